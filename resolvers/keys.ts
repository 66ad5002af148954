import { Forbidden, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { keyOwnerRefusal } from '../src/domain/keys/key-owner-refusal.ts';
import { assertAlias, assertCaps, withDefaults } from '../src/domain/keys/generation-rules.ts';
import { type KeyPatch, patchedKey, rotatedKey } from '../src/domain/keys/key-change.ts';
import type { KeyDraft } from '../src/domain/keys/key-draft.ts';
import type { KeyFilter, KeyPage, KeySort, VirtualKey } from '../src/domain/keys/virtual-key.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { assertTeamOfService, assertPatch } from './operation/key-references.ts';
import { assertMayChooseSecret, assertMayGenerate } from './operation/key-switches.ts';
import {
  allowedDraft,
  allowedPatch,
  allowedRotation,
  assertManages,
  mayRead,
  visibleTeams,
} from './operation/key-rights.ts';
import {
  changeKey,
  findNamed,
  KEY_HASH,
  infoOf,
  keyInfos,
  type KeyInfo,
  keyNotFound,
  namedKey,
  nameOf,
} from './operation/key-lookup.ts';
import { anyKey, isAnyAdmin, keyBlocker, keyMaker, keyManager, keyReader, system } from './operation/access.ts';
import { keyAuthor } from './operation/authored.ts';
import { callerOf, operation } from './operation/operation.ts';
import { keyLister } from './operation/owner-access.ts';
import type { KeyPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { type GeneratedKey, issueKey, secretFor } from './operation/key-issue.ts';
import { removeKeys } from './operation/key-removal.ts';

/** Creates a key within the rules of the configuration and the rights of the caller. */
async function makeAllowedKey(
  scope: Scope<KeyPlatform>,
  sent: KeyDraft,
  route: '/key/generate' | '/key/service-account/generate',
): Promise<GeneratedKey> {
  const { keyRules } = scope.platform;
  await assertMayGenerate(scope);
  assertMayChooseSecret(scope, sent.key);
  const wanted = withDefaults(sent, keyRules);
  assertAlias(wanted.alias, keyRules);
  assertCaps(wanted, keyRules, scope.platform.clock.now());
  const draft = await allowedDraft(scope, wanted, { sent, route });
  const isService = route === '/key/service-account/generate';
  const metadata = isService
    ? { ...draft.metadata, service_account_id: draft.alias ?? scope.platform.ids.uuid() }
    : draft.metadata;
  return issueKey(scope, { ...draft, metadata });
}

/**
 * Creates a virtual key. Throws InvalidInput for an invalid draft, Conflict when the secret or the alias is taken, and
 * Forbidden for rights that the caller does not have.
 */
export const generateKey = operation({
  name: 'generateKey',
  access: keyMaker,
  run: (scope: Scope<KeyPlatform>, draft: KeyDraft): Promise<GeneratedKey> =>
    makeAllowedKey(scope, draft, '/key/generate'),
});

/**
 * Creates a service account key: it has a team and no user. Throws InvalidInput for a missing or unknown team, and what
 * `generateKey` throws.
 */
export const generateServiceKey = operation({
  name: 'generateServiceKey',
  access: keyManager,
  async run(scope: Scope<KeyPlatform>, draft: KeyDraft): Promise<GeneratedKey> {
    await assertTeamOfService(scope, draft.teamId);
    return makeAllowedKey(scope, { ...draft, userId: null }, '/key/service-account/generate');
  },
});

/** Reads a key by its secret or its hash; null reads the caller's own key. Throws Forbidden and NotFound. */
export const getKeyInfo = operation({
  name: 'getKeyInfo',
  access: anyKey,
  async run(scope: Scope<KeyPlatform>, { key }: { readonly key: string | null }): Promise<KeyInfo> {
    const caller = callerOf(scope);
    const notFound = (named: string): NotFound => keyNotFound(named, 'Key not found in database');
    if (caller.key === null && key === null) throw notFound(caller.keyHash);
    const row = await findNamed(scope, key ?? caller.keyHash);
    // Only administrators learn that a key does not exist. Other callers get Forbidden.
    if (!(await mayRead(scope, row)))
      throw keyOwnerRefusal(`You are not allowed to access this key's info. Your role=${caller.role}`);
    if (row === null) throw notFound(nameOf(scope, key ?? caller.keyHash));
    return infoOf(scope, row);
  },
});

/** The row of a key by its hash; null when there is none that the caller may see. */
export const findKey = operation({
  name: 'findKey',
  access: keyReader,
  async run(scope: Scope<KeyPlatform>, hash: string): Promise<VirtualKey | null> {
    const row = KEY_HASH.test(hash) ? await scope.loaders.storedKeyByHash.load(hash) : null;
    if (row === null || row.deletedAt !== null) return null;
    return (await mayRead(scope, row)) ? row : null;
  },
});

/** Query of a list of keys. All conditions that are not null must match. */
export interface KeyQuery {
  readonly filter: Omit<KeyFilter, 'visibleTo'>;
  readonly sort: KeySort;
  readonly descending: boolean;
  readonly limit: number;
  readonly from: KeyPage['from'];
  /**
   * Also lists keys of the teams that the caller administers, and of teams that permit their members to list keys. A
   * filter by team has the same effect.
   */
  readonly withTeams?: boolean;
}

export interface KeyList {
  readonly keys: readonly KeyInfo[];
  /** Number of keys that match, on all pages. */
  readonly totalCount: number;
  /** Whether keys follow this page. */
  readonly hasMore: boolean;
}

/**
 * Lists keys. Administrators see all keys. Other callers see their own key and the keys of their user. `withTeams` or a
 * filter by team adds keys of teams, and `withCreated` adds keys that keys of their user created. Throws Forbidden when
 * a caller who is not an administrator asks for the keys of another user, or for the order by `budget_use`.
 */
export const listKeys = operation({
  name: 'listKeys',
  access: keyReader,
  async run(scope: Scope<KeyPlatform>, { filter, withTeams = false, ...page }: KeyQuery): Promise<KeyList> {
    const { stores, clock } = scope.platform;
    const caller = callerOf(scope);
    const now = clock.now();
    const userId = nullIfBlank(filter.userId);
    if (!isAnyAdmin(caller) && userId !== null && userId !== caller.userId)
      throw new Forbidden("You are not authorized to check another user's keys", 'key_list');
    if (!isAnyAdmin(caller) && page.sort === 'budget_use')
      throw new Forbidden('Only proxy admins can order keys by the use of their budgets.', 'proxy_admin');
    const includesTeams = withTeams || nullIfBlank(filter.teamId) !== null;
    const teamIds = includesTeams ? await visibleTeams(scope) : [];
    const visibleTo = isAnyAdmin(caller) ? null : { hash: caller.keyHash, userId: nullIfBlank(caller.userId), teamIds };
    const wanted: KeyFilter = { ...filter, visibleTo };
    const [found, totalCount] = await Promise.all([
      stores.keys.list({ ...page, filter: wanted, now, limit: page.limit + 1 }),
      stores.keys.count(wanted, now),
    ]);
    const rows = found.slice(0, page.limit);
    return { keys: await keyInfos(scope, rows), totalCount, hasMore: found.length > rows.length };
  },
});

/** As `listKeys`, for administrators and keys of users. */
export const listUserKeys = operation({
  name: 'listUserKeys',
  access: keyLister,
  run: (scope: Scope<KeyPlatform>, query: KeyQuery): Promise<KeyList> => listKeys(scope, query),
});

/**
 * The key that the caller names. For an unknown key, throws NotFound or InvalidInput to administrators. Other callers
 * get null, so that they cannot probe for keys.
 */
const knownKey = (scope: Scope<KeyPlatform>, named: string): Promise<VirtualKey | null> =>
  callerOf(scope).role === 'proxy_admin' ? namedKey(scope, named) : findNamed(scope, named);

async function patchKey(scope: Scope<KeyPlatform>, named: string, patch: KeyPatch): Promise<KeyInfo> {
  const key = await knownKey(scope, named);
  const allowed = await allowedPatch(scope, key, patch);
  return applyPatch(scope, key ?? (await namedKey(scope, named)), { patch, allowed });
}

async function applyPatch(
  scope: Scope<KeyPlatform>,
  key: VirtualKey,
  { patch, allowed }: { readonly patch: KeyPatch; readonly allowed: (row: VirtualKey) => KeyPatch },
): Promise<KeyInfo> {
  await assertPatch(scope, key, patch);
  const total = await scope.platform.stores.spend.totalOf(key.hash);
  const change = { now: scope.platform.clock.now(), by: keyAuthor(callerOf(scope)), total };
  const { after } = await changeKey(scope, key.hash, (row) => patchedKey(row, allowed(row), change));
  return infoOf(scope, after);
}

async function setBlocked(scope: Scope<KeyPlatform>, named: string, blocked: boolean): Promise<KeyInfo> {
  const key = await knownKey(scope, named);
  await assertManages(scope, key, blocked ? '/key/block' : '/key/unblock');
  const patch = { blocked };
  return applyPatch(scope, key ?? (await namedKey(scope, named)), { patch, allowed: () => patch });
}

/** The secret or the hash of a key. */
export interface NamedKey {
  readonly key: string;
}

/** Changes the settings of a key. Throws Forbidden, NotFound, InvalidInput, and Conflict when the alias is taken. */
export const updateKey = operation({
  name: 'updateKey',
  access: keyManager,
  run: (scope: Scope<KeyPlatform>, { key, patch }: NamedKey & { readonly patch: KeyPatch }): Promise<KeyInfo> =>
    patchKey(scope, key, patch),
});

/** Blocks a key: it is refused until it is unblocked. Throws Forbidden, NotFound and InvalidInput. */
export const blockKey = operation({
  name: 'blockKey',
  access: keyBlocker,
  run: (scope: Scope<KeyPlatform>, { key }: NamedKey): Promise<KeyInfo> => setBlocked(scope, key, true),
});

/** Unblocks a key. Throws Forbidden, NotFound and InvalidInput. */
export const unblockKey = operation({
  name: 'unblockKey',
  access: keyBlocker,
  run: (scope: Scope<KeyPlatform>, { key }: NamedKey): Promise<KeyInfo> => setBlocked(scope, key, false),
});

/** Keys to delete: by secrets or hashes, and by aliases. */
export interface KeysToDelete {
  readonly keys: readonly string[];
  readonly aliases: readonly string[];
}

/**
 * Deletes the named keys permanently. Their spend and the objects that they created stay. Returns the deleted keys.
 * Unknown keys are ignored for administrators; other callers get Forbidden. Throws InvalidInput when no key is named,
 * and NotFound when none exists.
 */
export const deleteKeys = operation({
  name: 'deleteKeys',
  access: keyMaker,
  async run(scope: Scope<KeyPlatform>, { keys, aliases }: KeysToDelete): Promise<readonly VirtualKey[]> {
    const { stores } = scope.platform;
    if (keys.length === 0 && aliases.length === 0) {
      const message = "Value error, At least one of 'keys' or 'key_aliases' must be provided.";
      throw new InvalidInput(message, [{ path: ['body'], rule: 'value_error', message }]);
    }
    const named = await Promise.all(keys.map((key) => findNamed(scope, key)));
    const aliased = await stores.keys.findAliases(aliases);
    const found = [...named, ...aliased].filter((key) => key !== null);
    for (const key of found) await assertManages(scope, key, '/key/delete');
    const isUnknownAlias = (alias: string): boolean => aliased.every((key) => key.alias !== alias);
    // Only an administrator learns that a key does not exist.
    if (named.includes(null) || aliases.some(isUnknownAlias)) await assertManages(scope, null, '/key/delete');
    const removed = await removeKeys(scope, [...new Set(found.map(({ hash }) => hash))]);
    if (removed.length === 0)
      throw new NotFound('keys', [...keys.map((key) => nameOf(scope, key)), ...aliases].join(', '), 'No keys found');
    return removed;
  },
});

/** A key whose secret is replaced, and further changes of the key. */
export interface Rotation extends NamedKey {
  /** The caller's own value for the new secret; null generates one. */
  readonly newKey: string | null;
  /** How long the old secret stays valid, as `30s`, `30m`, `30h`, `30d`, `2w` or `1mo`; null ends it immediately. */
  readonly gracePeriod: string | null;
  readonly patch: KeyPatch;
}

/**
 * Replaces the secret of a key. The key keeps the hash that identifies it, its spend and its objects. Throws Forbidden,
 * NotFound, InvalidInput, and Conflict when the new secret was ever in use or the alias is taken.
 */
export const regenerateKey = operation({
  name: 'regenerateKey',
  access: keyManager,
  async run(scope: Scope<KeyPlatform>, { key, newKey, gracePeriod, patch }: Rotation): Promise<GeneratedKey & KeyInfo> {
    const row = await knownKey(scope, key);
    const allowed = await allowedRotation(scope, row, patch);
    assertMayChooseSecret(scope, newKey);
    const secret = secretFor(scope, newKey);
    const named = row ?? (await namedKey(scope, key));
    await assertPatch(scope, named, patch);
    const change = { now: secret.now, by: secret.createdBy };
    const { after } = await changeKey(scope, named.hash, (stored) =>
      rotatedKey(patchedKey(stored, allowed(stored), change), secret, gracePeriod),
    );
    return { clearKey: secret.key, ...(await infoOf(scope, after)) };
  },
});

/**
 * Reloads the keys in use, so that changes by other processes take effect here. Ends live feeds of keys that lost their
 * rights.
 */
export const refreshKeys = operation({
  name: 'refreshKeys',
  access: system,
  async run({ platform }: Scope<KeyPlatform>, _input: undefined): Promise<void> {
    // Before the refresh, because the checks mark the keys of feeds as used.
    platform.callerWatch.runChecks();
    await platform.keyRing.refresh();
  },
});
