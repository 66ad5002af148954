/**
 * Kinds of rows that processes hold in memory.
 *
 * - `key`: virtual keys, each by an id of `keyChangeId`.
 * - `userId` to `organizationId`: owners of keys, each by its id.
 * - `catalogKey`: keys for the catalog, each by its hash.
 * - The others have no ids: all rows of the kind change together.
 */
export const CHANGE_KINDS = [
  'key',
  'userId',
  'teamId',
  'projectId',
  'organizationId',
  'keyBudgets',
  'tokenMappings',
  'labelBudgets',
  'tracingKeys',
  'catalogKey',
  'models',
  'fallbacks',
  'settings',
  'endpoints',
  'guardrails',
  'policies',
  'prompts',
  'a2aAgents',
  'vectorStores',
  'vectorStoreIndexes',
  'searchTools',
  'mcpServers',
  'toolPolicies',
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** Ids of changed rows by kind; null stands for every row of the kind. */
export type ChangedRows = ReadonlyMap<ChangeKind, ReadonlySet<string> | null>;

/** Every row of every kind. */
export const EVERYTHING: ChangedRows = new Map(CHANGE_KINDS.map((kind) => [kind, null]));

/**
 * Announces to other processes of the same database which rows a committed change made stale. Never waits and never
 * throws.
 */
export interface ChangeAnnouncer {
  /** `ids` null: every row of the kind. */
  announce(kind: ChangeKind, ids: readonly string[] | null): void;
}

/** Hashes by which a key ring evicts a key. No secrets. */
export interface KeyHashes {
  readonly hash: string;
  readonly secretHash: string;
  readonly previousSecret: { readonly hash: string } | null;
}

/**
 * The hashes of a key as one text: identity, current secret, previous secret. A key without a previous secret has two
 * hashes, or only one where its secret has never changed.
 */
export function keyChangeId({ hash, secretHash, previousSecret }: KeyHashes): string {
  if (previousSecret !== null) return `${hash}.${secretHash}.${previousSecret.hash}`;
  return secretHash === hash ? hash : `${hash}.${secretHash}`;
}

/** The hashes of an id that `keyChangeId` made. */
export function keyHashesOf(id: string): KeyHashes {
  const [hash = '', secretHash = hash, previous] = id.split('.');
  return { hash, secretHash, previousSecret: previous === undefined ? null : { hash: previous } };
}
