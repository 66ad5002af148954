import { createFailedKeys } from '../domain/keys/failed-keys.ts';
import type { DeploymentRegistry } from '../domain/deployments/deployment-source.ts';
import { unstoredKey } from '../domain/keys/unstored-key.ts';
import type { PaidKeys } from '../domain/free-tier/paid-keys.ts';
import type { PaymentProvider } from '../domain/checkout/payments.ts';
import type { KeyOfOwner } from '../domain/keys/key-of-owner.ts';
import { type CallerWatch, createCallerWatch } from '../gateway/keys/caller-watch.ts';
import { type CatalogKeyRing, createCatalogKeyRing } from '../gateway/keys/catalog-key-ring.ts';
import { createKeyRing, type KeyRing } from '../gateway/keys/key-ring.ts';
import { gatewayPaidKeys, paidKeysOf } from '../gateway/keys/paid-keys.ts';
import type { EarlierSpend } from '../domain/owners/started-owner.ts';
import type { CountedBudgets } from '../gateway/admission/counted-budgets.ts';
import { createOwnedKeys, type OwnedKeys } from '../gateway/keys/owned-keys.ts';
import { createKnownTokenKeys, type KnownTokenKeys } from '../gateway/keys/known-token-keys.ts';
import { createSessionKeys, refuseFormerMembers } from '../gateway/keys/session-keys.ts';
import { createTokenKeys } from '../gateway/keys/token-keys.ts';
import { createCredentialRing, type CredentialRing, type TokenAcceptance } from '../gateway/keys/credential-ring.ts';
import { createVerifiedTokens } from '../domain/identity/verified-tokens.ts';
import type { Stores } from '../persistence/stores.ts';
import { createStripe } from '../providers/stripe/stripe.ts';
import { unblockedPause, systemClock } from '../runtime/clock.ts';
import { createFreeTier, type RunningFreeTier } from '../runtime/free-tier/free-tier.ts';
import { createIpHash } from '../runtime/free-tier/ip-hash.ts';
import { keyGenerator } from '../runtime/identifiers.ts';
import { createClientNetworks } from '../runtime/network/client-network.ts';
import { sessionOpeners } from './compose-sign-in.ts';
import type { StartContext } from './context.ts';
import { systemAuthor } from './system-scope.ts';

/** Returns the network that a request comes from. */
type NetworkOf = ReturnType<typeof createClientNetworks>;

/** The key ring of the gateway, and the watch that ends live feeds of invalid keys. */
export interface Keys {
  readonly keyRing: CredentialRing;
  readonly callerWatch: CallerWatch;
  readonly networkOf: NetworkOf;
  readonly keyOf: KeyOfOwner;
}

/** Verifier and rules of signed tokens; null where none are accepted. */
async function composeTokens({ settings: { tokens }, log }: StartContext): Promise<TokenAcceptance | null> {
  if (tokens === null) return null;
  // Loaded only where tokens are accepted.
  const [{ createKeySets }, { createTokenVerifier, verifierByIssuer }] = await Promise.all([
    import('../runtime/identity/key-sets.ts'),
    import('../runtime/identity/token-verifier.ts'),
  ]);
  const { keySetUrls, keySetSeconds, issuers, audiences, rules, others } = tokens;
  const keysAt = (urls: readonly string[]) =>
    createKeySets({
      urls,
      ttlSeconds: keySetSeconds,
      fetch,
      clock: systemClock,
      failed: (error) => log.warn({ err: error }, 'the signing keys of an issuer could not be read; trying again'),
    });
  const clock = systemClock;
  const common = createTokenVerifier({ keys: keysAt(keySetUrls), issuers, audiences, clock });
  const byIssuer = others.map(({ issuer, keySetUrl, audiences: wanted }) => {
    const keys = keysAt([keySetUrl]);
    return [issuer, createTokenVerifier({ keys, issuers: [issuer], audiences: wanted, clock })] as const;
  });
  return { verifier: byIssuer.length === 0 ? common : verifierByIssuer(new Map(byIssuer), common), rules };
}

interface KeyParts {
  readonly stores: Stores;
  readonly deployments: Pick<DeploymentRegistry, 'accessGroupsOf' | 'isTeamModel' | 'targetOf'>;
  readonly countedBudgets: CountedBudgets;
  readonly earlierSpend: EarlierSpend;
}

/** Virtual keys, signed tokens and tracing keys, behind one key ring. */
export async function composeKeys(context: StartContext, parts: KeyParts): Promise<Keys> {
  const { settings } = context;
  const { stores } = parts;
  const networkOf = createClientNetworks(settings.trustedProxies);
  const failures = createFailedKeys({
    perMinute: settings.wrongKeysPerMinute,
    networkOf: ({ socket, headers }) => networkOf(socket.remoteAddress, headers['x-forwarded-for']?.toString()),
    clock: systemClock,
  });
  const common = { generator: keyGenerator, clock: systemClock, failures };
  const acceptance = await composeTokens(context);
  const tokens = createVerifiedTokens();
  const sessionKeys = createSessionKeys(stores.keys, { openers: sessionOpeners(settings), clock: systemClock });
  const owned = ownedKeys(parts, sessionKeys);
  const knownKeys = createKnownTokenKeys(stores.tokenKeys);
  const keys = acceptance === null ? owned : withTokens(parts, owned, { acceptance, tokens, knownKeys });
  const virtualKeys = createKeyRing({
    ...common,
    masterKey: settings.masterKey,
    store: refuseFormerMembers(keys),
    // Whether signed tokens may be mapped to keys.
    mapped: acceptance !== null && acceptance.rules.keyField !== null,
    pause: unblockedPause,
  });
  const keyRing = createCredentialRing(virtualKeys, { ...common, acceptance, tokens, tracingKeys: stores.tracingKeys });
  const callerWatch = createCallerWatch(keyRing);
  keyRing.onChange(callerWatch.check);
  return { keyRing, callerWatch, networkOf, keyOf: keysOfOwners(stores.keys, owned, knownKeys) };
}

/** Reads the keys of owners; see `KeyOfOwner`. */
const keysOfOwners =
  (stored: Pick<Stores['keys'], 'findMany'>, owned: OwnedKeys, knownKeys: KnownTokenKeys): KeyOfOwner =>
  async ({ keyHash: hash, teamId, userId }) => {
    const [found = null] = await stored.findMany([hash]);
    if (found === null && teamId === null && userId === null) return null;
    const ofToken = { ...unstoredKey({ hash, name: 'signed token', teamId, now: systemClock.now() }), userId };
    if (found === null) await knownKeys.store([ofToken]);
    return (await owned.withOwners(new Map([[hash, found ?? ofToken]]))).get(hash) ?? null;
  };

/** Keys with their owners. */
const ownedKeys = (
  { stores, deployments, countedBudgets }: KeyParts,
  keys: Pick<Stores['keys'], 'find' | 'findBySecrets'>,
): OwnedKeys =>
  createOwnedKeys(keys, stores, {
    accessGroupsOf: (model) => deployments.accessGroupsOf(model),
    isTeamModel: (teamId, model) => deployments.isTeamModel(teamId, model),
    targetOf: (name) => deployments.targetOf(name),
    counted: countedBudgets,
  });

/** The given keys, and those of signed tokens. */
function withTokens(
  { stores, earlierSpend }: KeyParts,
  keys: OwnedKeys,
  {
    acceptance: { rules },
    ...known
  }: {
    readonly acceptance: TokenAcceptance;
    readonly tokens: ReturnType<typeof createVerifiedTokens>;
    readonly knownKeys: KnownTokenKeys;
  },
) {
  const { users, teams, authorship } = stores;
  const authored = <Result>(work: () => Result): Result => authorship.by(systemAuthor('signed-token'), work);
  return createTokenKeys({
    keys,
    ...known,
    // A token may create users and teams before the author of the request is known, so these have their own author.
    stores: {
      ...stores,
      users: { ...users, add: (user) => authored(() => users.add(user)) },
      teams: { ...teams, add: (team) => authored(() => teams.add(team)) },
    },
    earlierSpend,
    stored: stores.keys,
    rules,
    generator: keyGenerator,
    clock: systemClock,
  });
}

/** The checkout, the keys that it sells, and the free tier. */
export interface Sales {
  readonly payments: PaymentProvider;
  readonly catalogKeys: CatalogKeyRing;
  readonly paidKeys: PaidKeys;
  readonly freeTier: RunningFreeTier;
}

export function composeSales(
  { settings, log, scheduler, shutdown }: StartContext,
  { stores, keyRing }: { readonly stores: Stores; readonly keyRing: KeyRing },
): Sales {
  const catalogKeys = createCatalogKeyRing({ store: stores.checkouts, generator: keyGenerator, clock: systemClock });
  const paidKeys = paidKeysOf({ catalog: catalogKeys, gateway: gatewayPaidKeys(keyRing) });
  const payments = createStripe(settings.billing);
  const freeTier = createFreeTier({
    store: stores.freeTier,
    paidKeys,
    ipHash: createIpHash(settings.masterKey),
    limit: settings.catalogDailyLimit,
    onSale: payments.configured,
    clock: systemClock,
    scheduler,
    failed: (error) => log.warn({ err: error }, 'the free tier could not reserve, return or remove calls'),
  });
  shutdown.add('free tier', () => freeTier.stop());
  return { payments, catalogKeys, paidKeys, freeTier };
}
