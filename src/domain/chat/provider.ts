import type { RealtimeRequest, RealtimeUpstream } from '../realtime/realtime.ts';
import type { Exchange, ModelRequest } from './chat.ts';
import type { Secret } from '../secret.ts';
import type { ProbeSettings } from '../deployments/probe-settings.ts';
import type { PassThrough } from '../upstream-objects/pass-through.ts';
import { VENDORS } from './vendors.ts';

/** One configured way to reach a model. */
export interface Deployment {
  /** Names it in rows and in ids of what its upstream keeps; as configured, or from what it is. */
  readonly id: string;
  /** Other ids by which it may have been remembered; none when absent. */
  readonly formerIds?: readonly string[];
  /** The public name it answers to; several deployments with one name are a model group. */
  readonly modelGroup: string;
  /** Which provider speaks for it, e.g. `openai`, `demo`. */
  readonly provider: string;
  /** The name sent upstream. */
  readonly upstreamModel: string;
  /** Base address without a trailing slash, e.g. `https://host/v1`; null uses the provider's own. */
  readonly apiBase: string | null;
  /** The base address comes from a caller: private addresses are refused when it is connected to. */
  readonly addressByCaller?: boolean;
  readonly apiKey: Secret | null;
  /** What its provider further needs to know, under the names of the configuration, e.g. `api_version`, `aws_region_name`. */
  readonly options: Readonly<Record<string, string>>;
  /** The same for what must not be shown, e.g. `aws_secret_access_key`. */
  readonly secrets: Readonly<Record<string, Secret>>;
  /**
   * Whether it is asked through OpenAI's Responses API: `only`, also by callers of other dialects; `also`, by callers of
   * its own; `never`. Its provider knows when absent.
   */
  readonly responses?: 'only' | 'also' | 'never';
  /** What callers may bring of their own for it; nothing when absent. */
  readonly clientCredentials?: readonly ('api_key' | 'api_base')[];
  /** Leave out what the upstream has no words for, instead of refusing the call. */
  readonly dropParams: boolean;
  /** Seconds to wait for the head of an answer. */
  readonly timeoutSeconds: number;
  /** Prices the configuration sets for this deployment, by price-map key; they beat the catalog. */
  readonly priceOverrides: Readonly<Record<string, unknown>>;
  /** How it is asked whether it answers, where the configuration says. */
  readonly probe?: ProbeSettings;
  /** The catalog entry whose price applies, when the configuration names one. */
  readonly baseModel: string | null;
}

/** Finds deployments by their ids; by a former one where no other has it. */
export function deploymentsById(deployments: readonly Deployment[]): ReadonlyMap<string, Deployment> {
  const former = deployments.flatMap((one) => (one.formerIds ?? []).map((id): [string, Deployment] => [id, one]));
  // Later entries replace earlier ones.
  return new Map([
    ...former.toReversed(),
    ...deployments.map((one): [string, Deployment] => [one.id, one]).toReversed(),
  ]);
}

/** The providers we have a protocol for; any other is spoken to as `openai` when its address is given. */
export const PROVIDER_NAMES: readonly string[] = [...Object.keys(VENDORS), 'demo'];

/** Names that their owners write otherwise than with a capital at the front. */
const DISPLAY_NAMES: Readonly<Record<string, string>> = { openai: 'OpenAI', vertex_ai: 'VertexAI' };

/** A provider's name as messages have it. */
export const displayName = (provider: string): string =>
  DISPLAY_NAMES[provider] ?? provider.charAt(0).toUpperCase() + provider.slice(1);

/** A vendor protocol we can speak; it answers every endpoint, or says that it cannot. */
export interface Provider {
  readonly name: string;
  /**
   * Sends one call and resolves when the head of the answer has come (for a stream: and its first chunk).
   * Throws UpstreamFailed for any failure up to then, and the signal's reason when it fires first. After
   * that, a failure travels inside the exchange's byte stream.
   */
  send(deployment: Deployment, request: ModelRequest, signal: AbortSignal): Promise<Exchange>;
  /**
   * Counts the input tokens of a request without answering it. Throws UpstreamFailed. Absent where the upstream does not
   * count.
   */
  readonly countTokens?: (deployment: Deployment, request: ModelRequest, signal: AbortSignal) => Promise<number>;
  /** Hands on a call about something the upstream keeps, as `send` does; absent where it keeps nothing. */
  readonly pass?: (deployment: Deployment, request: PassThrough, signal: AbortSignal) => Promise<Exchange>;
  /**
   * Opens a session in which both sides speak as they like; absent where the protocol has none. Throws UpstreamFailed
   * when it does not open, and the signal's reason when it fires first; once open, the signal means nothing.
   */
  readonly openRealtime?: (
    deployment: Deployment,
    request: RealtimeRequest,
    signal: AbortSignal,
  ) => Promise<RealtimeUpstream>;
}
