import type { JsonObject } from '../json-object.ts';
import type { RealtimeRequest, RealtimeUpstream } from '../realtime/realtime.ts';
import type { Exchange, ModelRequest } from './chat.ts';
import type { Secret } from '../secret.ts';
import type { RouteBudget } from '../budgets/route-budget.ts';
import type { AutoRouter } from '../auto-routers/auto-router.ts';
import type { ProbeSettings } from '../deployments/probe-settings.ts';
import type { DeploymentRouting } from '../routing/routing-policy.ts';
import type { DeploymentSelection } from '../routing/selection-policy.ts';
import type { PassThrough } from '../upstream-objects/pass-through.ts';
import { VENDORS } from './vendors.ts';

/** One configured way to reach a model. */
export interface Deployment {
  /** Its id in rows and in ids of upstream objects: configured, or derived from its settings. */
  readonly id: string;
  /** Earlier ids that stored rows may have; none when absent. */
  readonly formerIds?: readonly string[];
  /** Its public model name; several deployments with one name are a model group. */
  readonly modelGroup: string;
  /** The only team whose keys may call it; absent for a deployment that belongs to no team. */
  readonly teamId?: string;
  /** Its provider, e.g. `openai`, `demo`. */
  readonly provider: string;
  /** The name sent upstream. */
  readonly upstreamModel: string;
  /** Base address without a trailing slash, e.g. `https://host/v1`; null uses the provider's default. */
  readonly apiBase: string | null;
  /** Whether a caller chose the base address. If so, connections to private addresses are refused. */
  readonly addressByCaller?: boolean;
  readonly apiKey: Secret | null;
  /** Further settings of its provider, by their names in the configuration, e.g. `api_version`, `aws_region_name`. */
  readonly options: Readonly<Record<string, string>>;
  /** Secret settings of its provider, by their names in the configuration, e.g. `aws_secret_access_key`. */
  readonly secrets: Readonly<Record<string, Secret>>;
  /**
   * Which calls use the Responses API (OpenAI's) of the upstream. `only`: all calls. `also`: calls in the dialect of
   * that API. `never`: none. The provider's default when absent.
   */
  readonly responses?: 'only' | 'also' | 'never';
  /** Credentials that callers may send for it; none when absent. */
  readonly clientCredentials?: readonly ('api_key' | 'api_base')[];
  /** Pass-through routes of its provider use its key and address. */
  readonly forwards?: true;
  /** Its decisions are made by chat completions, also where its provider has decision models. */
  readonly decidesByChat?: true;
  /**
   * Maximum number of questions in one call to a decision model, where configured; the provider's default when absent.
   */
  readonly mostQuestions?: number;
  /** Samples for each question that has no log probabilities, for decisions by chat completions; none when absent. */
  readonly decisionVotes?: number;
  /** Further headers of calls to its decision model; none when absent. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Configured input types of its decision model besides text; the provider's default when absent. */
  readonly decides?: ConfiguredAbilities;
  /** Whether members that the upstream's dialect cannot express are dropped instead of refused. */
  readonly dropParams: boolean;
  /** Seconds to wait for the head of an answer. */
  readonly timeoutSeconds: number;
  /** Whether the configuration of the deployment sets `timeoutSeconds`; absent for the default. */
  readonly hasOwnTimeout?: true;
  /** As `timeoutSeconds`, for streams; absent where it is not configured. */
  readonly streamTimeoutSeconds?: number;
  /** Configured prices of this deployment, by price-map key; they take precedence over the catalog. */
  readonly priceOverrides: JsonObject;
  /** Its own retries and cooldowns, where configured. */
  readonly routing?: DeploymentRouting;
  /** Settings that decide when it is selected, where configured. */
  readonly selection?: DeploymentSelection;
  /** Its own budget, where configured. */
  readonly budget?: RouteBudget;
  /** Settings of its health check, where configured. */
  readonly probe?: ProbeSettings;
  /** Id of the catalog entry whose price applies, where configured. */
  readonly baseModel: string | null;
  /** Stored credential with the parameters that the deployment lacks; none when absent. */
  readonly credentialName?: string;
  /** Why it cannot be called; absent where it can. Its calls are refused, and the round robin of its group skips it. */
  readonly misconfigured?: string;
  /** Names of the guardrails of its calls; none when absent. */
  readonly guardrails?: readonly string[];
  /** Selects the model of each call; absent for a deployment with an upstream. */
  readonly autoRouter?: AutoRouter;
  /** Groups of models it is in: a key that may call a group may call its models. None when absent. */
  readonly accessGroups?: readonly string[];
}

/** Configured abilities of a decision model; `boxes`: questions that ask for bounding boxes in an image. */
interface ConfiguredAbilities {
  readonly boxes: boolean;
  readonly audio: boolean;
  readonly videos: boolean;
}

/**
 * Deployments by id and former id. A current id precedes a former id; of deployments with the same id, the first
 * counts.
 */
export function deploymentsById(deployments: readonly Deployment[]): ReadonlyMap<string, Deployment> {
  const former = deployments.flatMap((one) => (one.formerIds ?? []).map((id): [string, Deployment] => [id, one]));
  // Later entries of a map replace earlier ones. So former ids come first, and both lists are reversed.
  return new Map([
    ...former.toReversed(),
    ...deployments.map((one): [string, Deployment] => [one.id, one]).toReversed(),
  ]);
}

/** Timeout of deployments without a configured one, in seconds. */
export const DEFAULT_TIMEOUT_SECONDS = 600;

/** Providers with an adapter. Any other provider with an address uses the `openai` adapter. */
export const PROVIDER_NAMES: readonly string[] = [...Object.keys(VENDORS), 'demo'];

/** Display names that differ from the capitalized name. */
const DISPLAY_NAMES: Readonly<Record<string, string>> = { openai: 'OpenAI', vertex_ai: 'VertexAI' };

/** Display name of a provider in messages. */
export const displayName = (provider: string): string =>
  DISPLAY_NAMES[provider] ?? provider.charAt(0).toUpperCase() + provider.slice(1);

/** A request as an upstream would receive it. */
export interface RequestPreview {
  readonly url: string;
  /** Secrets are masked. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Members of the caller's request that are left out. */
  readonly dropped: readonly string[];
}

/** Adapter of a vendor's protocol. It implements every endpoint or throws. */
export interface Provider {
  readonly name: string;
  /**
   * Sends one call. Resolves when the head of the answer has arrived or, for a stream, its first chunk. Throws
   * InvalidInput for a request that the adapter cannot express. Throws UpstreamFailed for a failure of the upstream
   * until then, and the signal's reason when the signal fires first. Later failures are in the exchange's byte stream.
   */
  send(deployment: Deployment, request: ModelRequest, signal: AbortSignal): Promise<Exchange>;
  /**
   * Counts the input tokens of a request without answering it. Throws UpstreamFailed. Absent where the upstream does
   * not count.
   */
  readonly countTokens?: (deployment: Deployment, request: ModelRequest, signal: AbortSignal) => Promise<number>;
  /**
   * The request that `send` would send. Sends nothing. Throws InvalidInput as `send` does. Absent for a provider that
   * calls no upstream.
   */
  readonly preview?: (deployment: Deployment, request: ModelRequest) => Promise<RequestPreview>;
  /** Sends a call about an upstream object, as `send` does; absent where the upstream stores nothing. */
  readonly pass?: (deployment: Deployment, request: PassThrough, signal: AbortSignal) => Promise<Exchange>;
  /**
   * Opens a realtime session; absent where the protocol has none. Throws UpstreamFailed when the session does not open,
   * and the signal's reason when the signal fires first. The signal does not end an open session.
   */
  readonly openRealtime?: (
    deployment: Deployment,
    request: RealtimeRequest,
    signal: AbortSignal,
  ) => Promise<RealtimeUpstream>;
}
