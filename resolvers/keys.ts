import { Conflict, Forbidden, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { type KeyPatch, deleted, patched, rotated } from '../src/domain/keys/key-change.ts';
import { type KeyDraft, newKey } from '../src/domain/keys/key-draft.ts';
import { assertOwnKey } from '../src/domain/keys/own-key.ts';
import {
  type ChangedKey,
  type KeyFilter,
  type KeyPage,
  type KeySort,
  type KeyStatus,
  opens,
  statusOf,
  type VirtualKey,
} from '../src/domain/keys/virtual-key.ts';
import { type Usd, ZERO_USD } from '../src/domain/money.ts';
import { idOrNull } from '../src/domain/optional-id.ts';
import { admin, anyKey, isAnyAdmin, keyReader } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';

const HASH = /^[0-9a-f]{64}$/;
/** Most keys of one page of the graph's list. */
export const KEY_PAGE_SIZE = 100;

/** A key as its maker sees it, once: afterwards only its hash exists. */
export interface GeneratedKey {
  readonly clearKey: string;
  readonly row: VirtualKey;
}

const missing = (named: string, message = 'Key not found.'): NotFound => new NotFound('key', named, message);

/** The secret of a new or rotated key: the caller's own value, else a fresh one. */
function secretFor(scope: Scope, own: string | null) {
  const { keySmith, clock } = scope.platform;
  const maker = callerOf(scope);
  if (own !== null) assertOwnKey(own);
  const key = own ?? keySmith.make();
  const hash = keySmith.hash(key);
  // The admin key is not stored, so no constraint would refuse it.
  if (maker.key === null && hash === maker.keyHash) throw new Conflict('This key is taken.');
  return { key, hash, now: clock.now(), createdBy: maker.keyHash };
}

/** Makes a virtual key. Throws InvalidInput for a draft that cannot be a key, Conflict when it is taken. */
export const generateKey = operation({
  name: 'generateKey',
  access: admin,
  async run(scope, draft: KeyDraft): Promise<GeneratedKey> {
    const { stores, keyRing } = scope.platform;
    const secret = secretFor(scope, draft.key);
    const row = newKey(draft, secret);
    await stores.keys.add(row);
    // It may have been tried, and refused from memory, before it existed.
    keyRing.forget(row);
    return { clearKey: secret.key, row };
  },
});

/** A key's row, what it has spent, and what it is now. */
export interface KeyInfo {
  readonly row: VirtualKey;
  readonly spend: Usd;
  readonly status: KeyStatus;
}

/** The row of a key that is named by itself, or by its identity. Null when there is none, or it is deleted. */
async function findNamed({ platform }: Scope, named: string): Promise<VirtualKey | null> {
  const { stores, keySmith, clock } = platform;
  if (named.startsWith('sk-')) {
    const secretHash = keySmith.hash(named);
    const key = await stores.keys.find(secretHash);
    return key !== null && opens(key, secretHash, clock.now()) ? key : null;
  }
  // Text that is no hash names no key, and not every text can be passed to every database.
  if (!HASH.test(named)) return null;
  const [key] = await stores.keys.findMany([named]);
  if (key !== undefined) return key.deletedAt === null ? key : null;
  // A client may know a rotated key by the hash of its secret.
  return await stores.keys.find(named);
}

/** As `findNamed`. Throws NotFound, and InvalidInput for text that can name no key. */
async function namedKey(scope: Scope, named: string): Promise<VirtualKey> {
  if (!named.startsWith('sk-') && !HASH.test(named))
    throw new InvalidInput('Invalid key format.', [], { field: 'key' });
  const key = await findNamed(scope, named);
  if (key === null) throw missing(nameOf(scope, named));
  return key;
}

/** What an error calls a key: never the key itself. */
const nameOf = ({ platform }: Scope, named: string): string =>
  named.startsWith('sk-') ? platform.keySmith.hash(named) : named;

async function infoOf({ platform }: Scope, row: VirtualKey): Promise<KeyInfo> {
  return {
    row,
    spend: await platform.stores.spend.totalOf(row.hash),
    status: statusOf(row, platform.clock.now()),
  };
}

/** Reads a key by itself or its hash; the caller's own when none is named. Throws Forbidden and NotFound. */
export const getKeyInfo = operation({
  name: 'getKeyInfo',
  access: anyKey,
  async run(scope, { key }: { readonly key: string | null }): Promise<KeyInfo> {
    const caller = callerOf(scope);
    const notFound = (named: string): NotFound => missing(named, 'Key not found in database');
    if (caller.key === null && key === null) throw notFound(caller.keyHash);
    const row = await findNamed(scope, key ?? caller.keyHash);
    if (row?.hash !== caller.keyHash && !isAnyAdmin(caller))
      throw new Forbidden('A key may read itself; only admins read others.');
    if (row === null) throw notFound(nameOf(scope, key ?? caller.keyHash));
    return infoOf(scope, row);
  },
});

/** What a caller asks of a list of keys; all conditions that are not null must match. */
export interface KeyQuery {
  readonly filter: Omit<KeyFilter, 'visibleTo'>;
  readonly sort: KeySort;
  readonly descending: boolean;
  readonly limit: number;
  readonly from: KeyPage['from'];
}

export interface KeyList {
  readonly keys: readonly KeyInfo[];
  /** Number of keys that match, on all pages. */
  readonly totalCount: number;
  /** Whether keys follow this page. */
  readonly hasMore: boolean;
}

/**
 * Lists keys: administrators see all, others their own and those of their user. A filter by a hash takes any name of a
 * key that `getKeyInfo` takes.
 */
export const listKeys = operation({
  name: 'listKeys',
  access: keyReader,
  async run(scope, { filter, ...page }: KeyQuery): Promise<KeyList> {
    const { stores, clock } = scope.platform;
    const caller = callerOf(scope);
    const now = clock.now();
    const wanted: KeyFilter = {
      ...filter,
      visibleTo: isAnyAdmin(caller) ? null : { hash: caller.keyHash, userId: idOrNull(caller.userId) },
    };
    const [found, totalCount] = await Promise.all([
      stores.keys.list({ ...page, filter: wanted, now, limit: page.limit + 1 }),
      stores.keys.count(wanted, now),
    ]);
    const rows = found.slice(0, page.limit);
    const spend = await stores.spend.totalsOf(rows.map(({ hash }) => hash));
    const keys = rows.map((row) => ({ row, spend: spend.get(row.hash) ?? ZERO_USD, status: statusOf(row, now) }));
    return { keys, totalCount, hasMore: found.length > rows.length };
  },
});

/** Changes a key, then evicts it from memory: no call that begins after this uses what it was. */
async function changeKey(scope: Scope, named: string, change: (key: VirtualKey) => VirtualKey): Promise<ChangedKey> {
  const { stores, keyRing } = scope.platform;
  const { hash } = await namedKey(scope, named);
  const done = await stores.keys.change(hash, change);
  if (done === null) throw missing(hash);
  keyRing.forget(done.before, done.after);
  return done;
}

async function patchKey(scope: Scope, named: string, patch: KeyPatch): Promise<KeyInfo> {
  const change = { now: scope.platform.clock.now(), by: callerOf(scope).keyHash };
  const { after } = await changeKey(scope, named, (key) => patched(key, patch, change));
  return infoOf(scope, after);
}

/** A key by itself or its hash. */
export interface NamedKey {
  readonly key: string;
}

/** Changes the settings of a key. Throws NotFound, InvalidInput, and Conflict when the alias is taken. */
export const updateKey = operation({
  name: 'updateKey',
  access: admin,
  run: (scope, { key, patch }: NamedKey & { readonly patch: KeyPatch }): Promise<KeyInfo> =>
    patchKey(scope, key, patch),
});

/** Refuses a key from now on, until it is unblocked. Throws NotFound and InvalidInput. */
export const blockKey = operation({
  name: 'blockKey',
  access: admin,
  run: (scope, { key }: NamedKey): Promise<KeyInfo> => patchKey(scope, key, { blocked: true }),
});

/** Accepts a blocked key again. Throws NotFound and InvalidInput. */
export const unblockKey = operation({
  name: 'unblockKey',
  access: admin,
  run: (scope, { key }: NamedKey): Promise<KeyInfo> => patchKey(scope, key, { blocked: false }),
});

/** Keys to delete: by themselves or their hashes, and by aliases. */
export interface KeysToDelete {
  readonly keys: readonly string[];
  readonly aliases: readonly string[];
}

/**
 * Deletes those of the keys that exist, for good; their spend and what they created stay. Returns the deleted keys. Throws
 * InvalidInput when none is named and NotFound when none exists.
 */
export const deleteKeys = operation({
  name: 'deleteKeys',
  access: admin,
  async run(scope, { keys, aliases }: KeysToDelete): Promise<readonly VirtualKey[]> {
    const { stores, keyRing, clock } = scope.platform;
    if (keys.length === 0 && aliases.length === 0) {
      const message = "Value error, At least one of 'keys' or 'key_aliases' must be provided.";
      throw new InvalidInput(message, [{ path: ['body'], rule: 'value_error', message }]);
    }
    const named = await Promise.all(keys.map((key) => findNamed(scope, key)));
    const aliased = await stores.keys.findAliases(aliases);
    const hashes = new Set([...named, ...aliased].flatMap((key) => (key === null ? [] : [key.hash])));
    const change = { now: clock.now(), by: callerOf(scope).keyHash };
    const gone: VirtualKey[] = [];
    for (const hash of hashes) {
      const done = await stores.keys.change(hash, (key) => deleted(key, change));
      if (done === null) continue;
      keyRing.forget(done.before);
      gone.push(done.after);
    }
    if (gone.length === 0)
      throw missing([...keys.map((key) => nameOf(scope, key)), ...aliases].join(', '), 'No keys found');
    return gone;
  },
});

/** What a rotation takes. */
export interface Rotation extends NamedKey {
  /** The caller's own value for the new secret; null has one made. */
  readonly newKey: string | null;
  /** How long the old secret still opens the key, as `30s`, `30m`, `30h` or `30d`; null ends it at once. */
  readonly gracePeriod: string | null;
  readonly patch: KeyPatch;
}

/**
 * Gives a key a new secret. The key keeps its identity: its hash, spend and everything it owns. Throws NotFound,
 * InvalidInput, and Conflict when the new secret was ever in use.
 */
export const regenerateKey = operation({
  name: 'regenerateKey',
  access: admin,
  async run(scope, { key, newKey: own, gracePeriod, patch }: Rotation): Promise<GeneratedKey & KeyInfo> {
    const secret = secretFor(scope, own);
    const change = { now: secret.now, by: secret.createdBy };
    const { after } = await changeKey(scope, key, (row) => rotated(patched(row, patch, change), secret, gracePeriod));
    return { clearKey: secret.key, ...(await infoOf(scope, after)) };
  },
});
