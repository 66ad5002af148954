import { renewedCallbacks } from '../domain/teams/logging.ts';
import { ALL_TEAMS } from '../domain/teams/team.ts';
import type { Stores } from '../persistence/stores.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Cipher } from '../runtime/credentials/encryption.ts';
import { rowCipher } from '../runtime/credentials/sealed-stores.ts';
import { callbackSealer } from '../runtime/credentials/text-sealer.ts';
import { agentCipher } from '../runtime/a2a-agents/agents.ts';
import { guardrailCipher } from '../runtime/guardrails/guardrails.ts';
import { mcpServerCipher } from '../runtime/mcp-servers/mcp-servers.ts';
import { headerCipher } from '../runtime/pass-through/endpoints.ts';
import { searchToolCipher } from '../runtime/search-tools/search-tools.ts';
import { vectorStoreCipher } from '../runtime/vector-stores/vector-stores.ts';
import { renewedSection } from '../runtime/stored-settings/sealed-settings.ts';
import type { StartContext } from './context.ts';
import { systemAuthor } from './system-scope.ts';

/** Name of the renewal as the author of changes. */
const TASK = 'renewed secrets';

type SealedStores = Pick<
  Stores,
  | 'a2aAgents'
  | 'deployments'
  | 'credentials'
  | 'guardrails'
  | 'mcpServers'
  | 'passThrough'
  | 'searchTools'
  | 'settings'
  | 'teams'
  | 'vectorStores'
>;

interface Renewable<Row> {
  readonly rows: readonly Row[];
  readonly change: (id: string, change: (row: Row) => Row) => Promise<unknown>;
  readonly cipher: Cipher;
  /** The encrypted text of a row, in base64. */
  readonly sealedOf: (row: Row) => string;
  readonly withSealed: (row: Row, sealed: string) => Row;
}

/**
 * Encrypts again, with the current key, the rows that a former salt key or admin key encrypted. Resolves to the
 * number of such rows when it began. A row that another process renewed meanwhile does not change.
 */
async function renewRows<Row extends { readonly id: string }>(about: Renewable<Row>): Promise<number> {
  const { rows, change, cipher, sealedOf, withSealed } = about;
  /** The text of a row, encrypted with the current key. Null when no former key encrypted it. */
  const renewed = (row: Row): string | null =>
    cipher.renewed(Buffer.from(sealedOf(row), 'base64'), row.id)?.toString('base64') ?? null;
  let count = 0;
  for (const { id } of rows.filter((row) => renewed(row) !== null)) {
    await change(id, (row) => {
      const sealed = renewed(row);
      return sealed === null ? row : withSealed(row, sealed);
    });
    count += 1;
  }
  return count;
}

const renewSealed = <Row extends { readonly id: string; readonly sealed: string }>(
  store: { change(id: string, change: (row: Row) => Row): Promise<unknown> },
  rows: readonly Row[],
  cipher: Cipher,
): Promise<number> =>
  renewRows<Row>({
    rows,
    change: (id, change) => store.change(id, change),
    cipher,
    sealedOf: ({ sealed }) => sealed,
    withSealed: (row, sealed) => ({ ...row, sealed }),
  });

/**
 * Encrypts with the current key what a former salt key or admin key encrypted. These are secrets of models,
 * credentials, guardrails, agents, MCP servers, vector stores, pass-through endpoints, settings and teams. Each changed
 * row has an entry in the audit log. Does nothing without a former key.
 */
export async function renewSecrets(
  { settings, log }: Pick<StartContext, 'settings' | 'log'>,
  stores: SealedStores & Pick<Stores, 'authorship'>,
): Promise<void> {
  // One setting has the former salt and admin keys: `adminSecrets.former` is the same list.
  if (settings.saltSecrets.former.length === 0) return;
  const author = systemAuthor(TASK);
  const authorId = author.by;
  const renewed = await stores.authorship.by(author, () => renewAll(settings, stores, authorId));
  log.info({ renewed }, 'secrets that a former key encrypted are encrypted with the current key');
}

/** Encrypts the secrets of all stores again. Resolves to the number of changed rows. */
async function renewAll(
  { saltSecrets: salt, adminSecrets: admin }: StartContext['settings'],
  stores: SealedStores,
  authorId: string,
): Promise<number> {
  const all = { ids: null };
  const { deployments, credentials, guardrails, mcpServers, passThrough, vectorStores } = stores;
  const counts = [
    await renewSealed(deployments, await deployments.all(all), rowCipher(salt, 'deployments')),
    await renewSealed(credentials, await credentials.all(all), rowCipher(salt, 'credentials')),
    await renewSealed(guardrails, await guardrails.all(null), guardrailCipher(salt)),
    await renewSealed(stores.a2aAgents, await stores.a2aAgents.all(null), agentCipher(salt)),
    await renewSealed(vectorStores, await vectorStores.all(null), vectorStoreCipher(salt)),
    await renewSealed(stores.searchTools, await stores.searchTools.all(null), searchToolCipher(salt)),
    await renewSealed(mcpServers, await mcpServers.all(null), mcpServerCipher(salt)),
    await renewRows({
      rows: await passThrough.all(null),
      change: (id, change) => passThrough.change(id, change),
      cipher: headerCipher(admin),
      sealedOf: ({ sealedHeaders }) => sealedHeaders,
      withSealed: (row, sealedHeaders) => ({ ...row, sealedHeaders }),
    }),
  ];
  for (const section of await stores.settings.all()) {
    if (renewedSection(section, admin) === null) continue;
    const renew = (content: typeof section.content) => renewedSection({ id: section.id, content }, admin) ?? content;
    await stores.settings.change(section.id, renew, { now: systemClock.now(), by: authorId });
    counts.push(1);
  }
  const callbacks = callbackSealer(salt);
  for (const { id, metadata } of await stores.teams.all(ALL_TEAMS)) {
    const renew = (text: string) => callbacks.renewed(text, id);
    if (renewedCallbacks(metadata, renew) === null) continue;
    await stores.teams.change(id, (team) => ({
      ...team,
      metadata: renewedCallbacks(team.metadata, renew) ?? team.metadata,
    }));
    counts.push(1);
  }
  return counts.reduce((sum, count) => sum + count, 0);
}
