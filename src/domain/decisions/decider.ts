import type { ModelRequest } from '../chat/chat.ts';
import type { Deployment } from '../chat/provider.ts';
import type { Answer, Decision, DecisionRequest } from './decision.ts';

/** Limits of images that a decider accepts. */
export interface ImageRules {
  /** Accepted media types, sorted; null accepts any. */
  readonly types: readonly string[] | null;
  /** Maximum number of images of a request; null for no limit. */
  readonly most: number | null;
  /** Maximum size of one image, in bytes; null for no limit. */
  readonly mostBytes: number | null;
  /** Maximum size of all images together, in bytes; null for no limit. */
  readonly mostBytesTogether: number | null;
  /** Whether an image at an address must be downloaded and sent as its content. */
  readonly inline: boolean;
}

/** Input that a decider supports besides text and the common kinds of questions. */
export interface Abilities {
  readonly safetyIdentifier: boolean;
  /** Images inside messages; null accepts none. */
  readonly images: ImageRules | null;
  /** Whether images beside the input are accepted, too. `state` is the input in the named-map format. */
  readonly imagesBesideState: boolean;
  readonly assets: boolean;
  /** Questions that ask for boxes around objects in an image. */
  readonly boxes: boolean;
  readonly audio: boolean;
  readonly videos: boolean;
}

/** Facts of a call besides its questions. */
export interface DecisionTerms {
  /** The request of the caller, for its owner and its headers. */
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  /** Receives each answer as soon as it is known, with the index of its question in the decision. */
  readonly answered?: (index: number, answer: Answer) => void;
}

/** Answers typed questions with one model of a deployment. */
export interface Decider {
  abilities(deployment: Deployment, request: ModelRequest): Abilities;
  /**
   * Throws InvalidInput for a deployment that cannot be called, and UpstreamFailed for one without a required key,
   * before anything is sent. Called before the request is checked against the abilities.
   */
  assertCallable(deployment: Deployment): void;
  /**
   * Resolves to one answer for each question. The request fits the abilities. Throws UpstreamFailed, InvalidInput for
   * questions that the upstream's format cannot express, and the signal's reason when it fires first.
   */
  decide(deployment: Deployment, decision: DecisionRequest, terms: DecisionTerms): Promise<Decision>;
}
