import type { Owner } from '../caller.ts';

/** What an id of a response stands for, where its upstream keeps the response. */
export interface KeptUpstream {
  readonly deploymentId: string;
  /** The upstream's own id. */
  readonly upstreamId: string;
  /** Whose response it is: of `keyHash` only where there is no team. */
  readonly owner: Owner;
}

/**
 * Puts what a follow-up needs into the id that the caller is given, so that nobody has to remember it, and nobody else
 * can read or make one: all callers of a deployment share one credential there.
 */
export interface ResponseIds {
  /** The same for the same response, always. */
  seal(kept: KeptUpstream): string;
  /** Null for an id that was not sealed here, or not with this installation's key. */
  open(id: string): KeptUpstream | null;
}

/** How every id of a response begins, ours as OpenAI's. */
const PREFIX = 'resp_';

/** The id of a response that is kept here, from a fresh UUID. */
export const ownResponseId = (uuid: string): string => `${PREFIX}${uuid.replaceAll('-', '')}`;

const OWN_ID = /^resp_[0-9a-f]{32}$/;

/** Whether an id is of the form of those that are kept here. */
export const isOwnResponseId = (id: string): boolean => OWN_ID.test(id);

/** The id of an item of a response: whoever has it knows the response. `place` is unique within the response. */
export const itemIdOf = (kind: string, responseId: string, place: number | string): string =>
  `${kind}_${responseId.replace(/^resp_/, '')}_${place}`;

const OWN_ITEM = /^[a-z]+_([0-9a-f]{32})_i?\d+$/;

/** The response that an item belongs to, where that may be kept here; null for an item of another origin. */
export function responseOfItem(itemId: string): string | null {
  const [, hex] = OWN_ITEM.exec(itemId) ?? [];
  return hex === undefined ? null : `${PREFIX}${hex}`;
}
