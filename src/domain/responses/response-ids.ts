import type { Owner } from '../caller.ts';

/** Content of a response id, where the upstream stores the response. */
export interface UpstreamResponse {
  readonly deploymentId: string;
  /** The upstream's own id. */
  readonly upstreamId: string;
  /** Owner of the response. `keyHash` decides only for an owner without a team. */
  readonly owner: Owner;
  /**
   * Whether the response, or one before it in the conversation, may have run in a container of another caller. Absent
   * for other responses.
   */
  readonly namesOthers?: true;
}

/**
 * Encrypts the data that a follow-up request needs into the response id that the caller gets. Nothing is stored.
 * Callers cannot read or forge ids, although all callers of a deployment share one upstream credential.
 */
export interface ResponseIds {
  /** Deterministic. */
  seal(response: UpstreamResponse): string;
  /** Null for an id that was not sealed with this installation's key. */
  open(id: string): UpstreamResponse | null;
}

/** Prefix of response ids, the same as OpenAI's. */
const PREFIX = 'resp_';

/** Id of a response that is stored here, from a new UUID. */
export const ownResponseId = (uuid: string): string => `${PREFIX}${uuid.replaceAll('-', '')}`;

const OWN_ID = /^resp_[0-9a-f]{32}$/;

/** Whether an id has the format of responses that are stored here. */
export const isOwnResponseId = (id: string): boolean => OWN_ID.test(id);

/** Id of an item, which contains the id of its response. `place` is unique within the response. */
export const itemIdOf = (kind: string, responseId: string, place: number | string): string =>
  `${kind}_${responseId.replace(/^resp_/, '')}_${place}`;

/** Before the number of an item, `i` marks an input item. */
const OWN_ITEM = /^[a-z]+_([0-9a-f]{32})_i?\d+$/;

/**
 * The response id in the id of an item; null where the item id contains none. Whether that response is stored here is
 * not checked.
 */
export function responseOfItem(itemId: string): string | null {
  const [, hex] = OWN_ITEM.exec(itemId) ?? [];
  return hex === undefined ? null : `${PREFIX}${hex}`;
}
