import type { JsonObject } from '../json-object.ts';
import { InvalidInput } from '../errors.ts';
import { type Usd, usdFrom, ZERO_USD } from '../money.ts';
import type { RowStore, Stamps } from '../row-store.ts';
import type { Secret } from '../secret.ts';

/** Settings of a pass-through endpoint that hold no secret. They are stored together as JSON. */
export interface EndpointSettings {
  /** Query parameters that are sent where neither the request nor the target has them. */
  readonly defaultQuery: Readonly<Record<string, string>>;
  /** Also serves the paths below `path`. */
  readonly includeSubpath: boolean;
  /** USD of each answered call. A negative amount is shown and charges nothing. */
  readonly costPerRequest: number;
  /** Seconds to wait for the head of an answer; null for the default. */
  readonly timeoutSeconds: number | null;
  /** Whether callers need a key. */
  readonly auth: boolean;
  /** Guardrails by name, as configured. */
  readonly guardrails: JsonObject | null;
  /** Methods that it serves; null for all. */
  readonly methods: readonly string[] | null;
  /** Forwards the headers of the caller, without the caller's key. */
  readonly forwardHeaders: boolean;
}

/** A path of the gateway whose calls are forwarded to an address. */
export interface PassThroughEndpoint extends EndpointSettings {
  readonly id: string;
  /** As it was configured, with or without a leading slash. */
  readonly path: string;
  /** http or https address. It may have a query. */
  readonly target: string;
  /** Headers that are sent to the target. Null when the stored ones cannot be decrypted: the endpoint is not served. */
  readonly headers: Readonly<Record<string, Secret>> | null;
  /** Whether the configuration file has it. Such an endpoint cannot be changed at run time. */
  readonly isFromConfig: boolean;
}

/** A stored pass-through endpoint. Its headers are encrypted. */
export interface StoredEndpoint extends Stamps {
  readonly id: string;
  readonly path: string;
  readonly target: string;
  readonly sealedHeaders: string;
  readonly settings: EndpointSettings;
}

export type EndpointStore = RowStore<StoredEndpoint, null>;

/** Fields of a new pass-through endpoint, or changes to one: an absent field is unchanged. */
export interface EndpointPatch extends Partial<EndpointSettings> {
  readonly path?: string;
  readonly target?: string;
  /** Replaces all headers. A value that is a mask keeps the stored one. */
  readonly headers?: Readonly<Record<string, string>>;
}

export const DEFAULT_ENDPOINT: EndpointSettings = {
  defaultQuery: {},
  includeSubpath: false,
  costPerRequest: 0,
  timeoutSeconds: null,
  auth: true,
  guardrails: null,
  methods: null,
  forwardHeaders: false,
};

/** The path as requests have it. */
export const servedPath = (path: string): string => (path.startsWith('/') ? path : `/${path}`);

/** Cost of one answered call. */
export function endpointCostOf({ costPerRequest }: Pick<EndpointSettings, 'costPerRequest'>): Usd {
  const cost = usdFrom(costPerRequest);
  return cost === null || cost < 0n ? ZERO_USD : cost;
}

/** Why an address cannot be a target; null when it can. */
export function targetFault(target: string): string | null {
  const url = URL.parse(target);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return 'must be an http:// or https:// address';
  // The URL parser removes line ends and encodes spaces and other control characters: the called address would differ
  // from the stored one.
  if (/[\p{Cc}\s]/u.test(target)) return 'must not contain spaces or control characters';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or a password; use headers';
  return url.hash === '' ? null : 'must not contain a fragment';
}

/** Throws InvalidInput for a target that cannot be called. */
export function assertTarget(target: string): void {
  const fault = targetFault(target);
  if (fault === null) return;
  throw new InvalidInput(`Invalid value for 'target': it ${fault}.`, [], { field: 'target' });
}
