import {
  type A2aAgent,
  type AgentPatch,
  type AgentSecrets,
  type AgentSettings,
  type AgentStore,
  DEFAULT_AGENT,
  patchedSettings,
  type StoredAgent,
} from '../../domain/a2a-agents/agent.ts';
import type { A2aAgents } from '../../domain/a2a-agents/agents.ts';
import { normalisedCard } from '../../domain/a2a-agents/card.ts';
import { killSwitchFault } from '../../domain/a2a-agents/kill-switch.ts';
import { paramsFault } from '../../domain/a2a-agents/numbers.ts';
import { Conflict, InvalidInput } from '../../domain/errors.ts';
import { hasMaskedHeader, headersFault, unmaskedHeaders } from '../../domain/pass-through/headers.ts';
import { type Authored, newStamps } from '../../domain/row-store.ts';
import { Secret } from '../../domain/secret.ts';
import { hasRedacted, withKeptSecrets } from '../../domain/settings/redaction.ts';
import { type Cipher, cipherFor, type Secrets } from '../credentials/encryption.ts';
import { createJsonSealer } from '../credentials/json-sealer.ts';
import { orderedReads } from '../tasks/ordered-reads.ts';

export interface AgentOptions {
  /** Agents of the configuration file. */
  readonly configured: readonly A2aAgent[];
  readonly store: AgentStore;
  /** Secrets from which the encryption keys for stored secrets are derived. */
  readonly salt: Secrets;
  readonly log: { warn(facts: object, event: string): void };
}

const MAX_NAME_CHARACTERS = 256;
const CONTROL_OR_UNPAIRED_SURROGATE = /[\p{Cc}\p{Cs}]/u;

/** Agents in memory over their store. */
export function createA2aAgents({ configured: initial, store, salt, log }: AgentOptions): A2aAgents {
  const sealer = createJsonSealer<AgentSecrets>(agentCipher(salt), (id) => {
    log.warn({ id }, 'An agent is not called: its secrets were encrypted with another salt key.');
  });
  let configured = initial;
  let stored: readonly A2aAgent[] = [];
  let byIdOrName = indexOf(configured);

  function agentOf(row: StoredAgent): A2aAgent {
    const opened = sealer.open(row.id, row.sealed);
    const { id, name, settings, createdAt, createdBy, updatedAt, updatedBy } = row;
    const { params, staticHeaders, killSwitch } = opened ?? DEFAULT_AGENT;
    return {
      ...DEFAULT_AGENT,
      ...settings,
      id,
      name,
      params,
      staticHeaders: secretHeaders(staticHeaders),
      killSwitch,
      isReadable: opened !== null,
      isFromConfig: false,
      createdAt,
      createdBy,
      updatedAt,
      updatedBy,
    };
  }

  function updateIndex(): void {
    byIdOrName = indexOf([...configured, ...stored]);
  }

  const refresh = orderedReads(
    () => store.all(null),
    (rows) => {
      stored = rows.map(agentOf);
      updateIndex();
    },
  );

  /** Checks a name against the configuration file, which the database cannot do. Throws Conflict. */
  function assertFree(name: string): void {
    if (configured.some((one) => one.name === name)) throw new Conflict(nameTaken(name));
  }

  /** A row with a patch applied. Throws Conflict and InvalidInput. */
  function changedRow(row: StoredAgent, patch: AgentPatch, { now, by }: Authored): StoredAgent {
    const opened = sealer.open(row.id, row.sealed);
    // Without the stored secrets, a patch would lose those that it does not send, and redacted values.
    if (opened === null && !replacesAllSecrets(patch))
      throw new Conflict(
        'The secrets of this agent were encrypted with another salt key. Send static_headers, litellm_params and kill_switch, with secrets.',
      );
    const name = patch.name ?? row.name;
    assertName(name);
    if (name !== row.name) assertFree(name);
    const secrets = patchedSecrets(opened ?? DEFAULT_AGENT, patch);
    return {
      ...row,
      name,
      settings: patchedSettings({ ...settingsOf(DEFAULT_AGENT), ...row.settings }, withCard(patch, name)),
      sealed: sealer.seal(row.id, secrets),
      updatedAt: now,
      updatedBy: by,
    };
  }

  return {
    list: () => [...configured, ...stored],
    find: (idOrName) => byIdOrName.get(idOrName) ?? null,
    async add(id, { name, ...draft }, by) {
      assertName(name);
      const secrets = patchedSecrets(DEFAULT_AGENT, draft);
      assertFree(name);
      const base: AgentSettings = { ...settingsOf(DEFAULT_AGENT), card: normalisedCard({}, name) };
      const row: StoredAgent = {
        id,
        name,
        settings: patchedSettings(base, withCard(draft, name)),
        sealed: sealer.seal(id, secrets),
        ...newStamps(by),
      };
      await store.add(row);
      await refresh();
      return agentOf(row);
    },
    async change(id, patch, by) {
      const changed = await store.change(id, (row) => changedRow(row, patch, by));
      await refresh();
      return changed === null ? null : agentOf(changed.after);
    },
    async remove(id) {
      const [removed] = await store.remove([id]);
      await refresh();
      return removed === undefined ? null : agentOf(removed);
    },
    configure(agents) {
      configured = agents;
      updateIndex();
    },
    refresh,
  };
}

const nameTaken = (name: string): string => `Agent with name ${name} already exists`;

/** Agents by id and by name. An id takes precedence over a name, and an agent of the file over a stored one. */
function indexOf(agents: readonly A2aAgent[]): ReadonlyMap<string, A2aAgent> {
  const last = agents.toReversed();
  return new Map([
    ...last.map((agent) => [agent.name, agent] as const),
    ...last.map((agent) => [agent.id, agent] as const),
  ]);
}

const settingsOf = ({
  params: _params,
  staticHeaders: _headers,
  killSwitch: _switch,
  ...settings
}: typeof DEFAULT_AGENT): Omit<AgentSettings, 'card'> => settings;

const withCard = (patch: AgentPatch, name: string): AgentPatch =>
  patch.card === undefined ? patch : { ...patch, card: normalisedCard(patch.card, name) };

const secretHeaders = (headers: AgentSecrets['staticHeaders']): A2aAgent['staticHeaders'] =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, new Secret(value)]));

/** Whether a patch has all secrets, and no masked or redacted value stands for a stored one. */
function replacesAllSecrets({ params, staticHeaders, killSwitch }: AgentPatch): boolean {
  if (params === undefined || staticHeaders === undefined || killSwitch === undefined) return false;
  return !hasMaskedHeader(staticHeaders) && !hasRedacted([params, killSwitch]);
}

/** Secrets with a patch applied. A redacted value keeps the stored one. Throws InvalidInput. */
function patchedSecrets(before: AgentSecrets, patch: AgentPatch): AgentSecrets {
  const params = patch.params === undefined ? before.params : withKeptSecrets(patch.params, before.params);
  const staticHeaders =
    patch.staticHeaders === undefined
      ? before.staticHeaders
      : unmaskedHeaders(patch.staticHeaders, before.staticHeaders);
  const killSwitch = patchedKillSwitch(before.killSwitch, patch.killSwitch);
  const fault = headersFault(staticHeaders);
  if (fault !== null)
    throw new InvalidInput(`Invalid value for 'static_headers': it ${fault}.`, [], { field: 'static_headers' });
  const wrongParam = patch.params === undefined ? null : paramsFault(params);
  if (wrongParam !== null) throw new InvalidInput(`litellm_params.${wrongParam}`, [], { field: 'litellm_params' });
  assertKillSwitch(killSwitch);
  return { params, staticHeaders, killSwitch };
}

function patchedKillSwitch(
  before: AgentSecrets['killSwitch'],
  sent: AgentPatch['killSwitch'],
): AgentSecrets['killSwitch'] {
  if (sent === undefined) return before;
  return sent === null ? null : withKeptSecrets(sent, before ?? {});
}

function assertName(name: string): void {
  if (name.trim() !== '' && name.length <= MAX_NAME_CHARACTERS && !CONTROL_OR_UNPAIRED_SURROGATE.test(name)) return;
  throw new InvalidInput(
    `agent_name must have 1 to ${MAX_NAME_CHARACTERS} characters, no control character and no unpaired surrogate`,
    [],
    { field: 'agent_name' },
  );
}

function assertKillSwitch(killSwitch: AgentSecrets['killSwitch']): void {
  if (killSwitch === null) return;
  const fault = killSwitchFault(killSwitch);
  if (fault !== null) throw new InvalidInput(`kill_switch.${fault}`, [], { field: 'kill_switch' });
}

/** Encrypts the secrets of stored agents. */
export const agentCipher = (salt: Secrets): Cipher => cipherFor(salt, 'stored agents');
