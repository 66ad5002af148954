import type { JsonObject } from '../json-object.ts';
import type { AwsAccount, AwsCredentials } from '../chat/aws-accounts.ts';
import type { Exchange, ModelRequest } from '../chat/chat.ts';
import type { HttpMethod } from '../http.ts';
import type { Endpoint } from '../inference/endpoint.ts';
import type { Usd } from '../money.ts';
import type { RateLimit } from '../admission/rate-limits.ts';
import type { Secret } from '../secret.ts';

/** Maximum size of a forwarded answer, in bytes. */
export const MAX_ANSWER_BYTES = 1024 * 1024 * 1024;

/** Identity at a cloud whose calls have no fixed credential header. */
export type CloudIdentity =
  /** Calls are signed for a service of Amazon: with `keys` or, if null, with credentials resolved from `account`. */
  | {
      readonly kind: 'aws';
      readonly region: string;
      readonly service: string;
      readonly keys: AwsCredentials | null;
      readonly account: AwsAccount;
    }
  /** Calls have an access token of Google Cloud. */
  | { readonly kind: 'google'; readonly credentials: Secret }
  /** Calls have an access token that an issuer gives for a key. */
  | {
      readonly kind: 'issued';
      readonly key: Secret;
      readonly url: string;
      readonly form: 'ibm' | 'gigachat';
      readonly scope: string | null;
    };

/** Access tokens for the keys of an issuer. */
export interface IssuedTokens {
  /** A token that has not expired. Throws CloudRefused. */
  for(identity: Extract<CloudIdentity, { kind: 'issued' }>): Promise<Secret>;
}

/** A request that is forwarded in the format of its target. */
export interface Forwarded extends Pick<ModelRequest, 'callId' | 'parent' | 'labels' | 'userAgent' | 'form'> {
  readonly method: HttpMethod;
  /** Address with its query. */
  readonly url: string;
  /** Headers without credentials of the target. */
  readonly headers: Readonly<Record<string, string>>;
  /** Credential headers of the target. They replace others of the same name. */
  readonly credentials: Readonly<Record<string, Secret>>;
  /** Cloud identity that authenticates the call; absent for a fixed credential. */
  readonly cloud?: CloudIdentity;
  readonly body: Uint8Array;
  /** Members of a JSON body that are replaced. */
  readonly replaced?: JsonObject;
  /** Seconds to wait for the head of the answer. The whole answer may take `MAX_ANSWER_TIME_FACTOR` times as long. */
  readonly timeoutSeconds: number;
  /** Maximum size of the answer, in bytes. */
  readonly answerLimit: number;
  /** Name of the operation in spans, e.g. `pass_through`. */
  readonly operation: string;
  /** Call type in the spend row; that of pass-through calls when absent. */
  readonly callType?: string;
  /**
   * Model in the spend row: one that the request names, else the name of an operation, a default of the provider, or
   * `unknown`.
   */
  readonly model: string;
  readonly provider: string;
  /** Used in place of a deployment's id in rows. */
  readonly deploymentId: string;
  /** Cost of a call answered without an error; null prices its usage by the catalog. */
  readonly cost: Usd | null;
  /**
   * Cost of an answered call where `cost` is null, and the usage or the price of the call is not known. Null leaves the
   * cost unknown.
   */
  readonly defaultCost: Usd | null;
  /**
   * Whether `cost` is the default 0, and not configured. The call may then still be refused for a model without a
   * price.
   */
  readonly needsPrice?: boolean;
  /** The model endpoint that the target's path names, whose answers report usage; null for another path. */
  readonly endpoint: Endpoint | null;
  /** The members of a JSON object or a form in the body; empty for another body. */
  readonly fields: JsonObject;
  /**
   * The only guardrails that run, by name. Absent: those of the caller's key, and those that run on every call.
   */
  readonly guardrails?: readonly string[];
  /** Names of guardrails that run beside those of the caller's key. */
  readonly addedGuardrails?: readonly string[];
  /** Prices by price-map key, for a call whose `cost` is null. */
  readonly prices?: JsonObject;
  /** Protocol of the answers, which decides how usage is read; absent for that of `endpoint`. */
  readonly protocol?: 'a2a';
  /** Receives the cost of the call. A later cost replaces an earlier one. */
  readonly onCost?: (cost: Usd) => void;
  /** Called when the request is sent, after its admission and its guardrails. */
  readonly onSent?: () => void;
  /** Limits of the target, beside those of the caller. */
  readonly limits?: readonly RateLimit[];
  /** Hash of the caller's key, for its fair share of connections. */
  readonly owner?: string;
}

/** The timeout of a whole answer divided by the timeout of its head. */
export const MAX_ANSWER_TIME_FACTOR = 6;

/** Sends requests to targets. */
export interface Forwarder {
  /**
   * Resolves when the head of the answer has arrived, with any status: an error of the target is an answer. Follows
   * redirects of GET within the origin of the target. Throws UpstreamFailed without an answer, and when its
   * `content-length` exceeds `answerLimit`. Throws the signal's reason when the signal fires first.
   */
  forward(request: Forwarded, signal: AbortSignal): Promise<Exchange>;
}
