import { z } from 'zod';
import { type A2aAgent, DEFAULT_AGENT } from '../../domain/a2a-agents/agent.ts';
import { agentUrl } from '../../domain/a2a-agents/card.ts';
import { foreignProvider } from '../../domain/a2a-agents/upstream.ts';
import { killSwitchFault } from '../../domain/a2a-agents/kill-switch.ts';
import { paramsFault } from '../../domain/a2a-agents/numbers.ts';
import { jsonObjectOf } from '../../domain/json-object.ts';
import { targetFault } from '../../domain/pass-through/endpoint.ts';
import { headersFault } from '../../domain/pass-through/headers.ts';
import { Secret } from '../../domain/secret.ts';
import type { ConfigDocument } from './config-document.ts';
import type { Path } from './config-references.ts';
import { unknownMember } from './nearest-name.ts';
import {
  faultAt,
  type FaultReceivers,
  headersWithVariables,
  isKnownFault,
  pathOfIssue,
  stableId,
} from './section-entries.ts';

/** Sections of the file that list agents. */
const SECTIONS = ['agents', 'agent_list'] as const;

const anyMap = z.record(z.string(), z.unknown());
/** Value of a header; YAML reads digits as numbers. */
const headerValue = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const limit = z.number().int().min(0).nullish();

/** One agent of the file. */
export const agentEntry = z.looseObject({
  agent_name: z.string().min(1),
  agent_id: z.string().min(1).nullish(),
  agent_card_params: anyMap.nullish(),
  litellm_params: anyMap.nullish(),
  static_headers: z.record(z.string(), headerValue).nullish(),
  extra_headers: z.array(z.string()).nullish(),
  object_permission: anyMap.nullish(),
  access_group_ids: z.array(z.string()).nullish(),
  tpm_limit: limit,
  rpm_limit: limit,
  session_tpm_limit: limit,
  session_rpm_limit: limit,
  enabled: z.boolean().nullish(),
  execution_mode: z.string().nullish(),
  kill_switch: z.looseObject({ url: z.string() }).nullish(),
});

const MEMBERS = Object.keys(agentEntry.shape);

type Entry = z.infer<typeof agentEntry>;

/** A place in an entry, and what is wrong there. */
type EntryFault = readonly [Path, string];

interface AgentReading extends FaultReceivers {
  readonly env: NodeJS.ProcessEnv;
}

/** The agents of the file; without those of a section in which an entry has a wrong form. */
export function readA2aAgents(
  document: ConfigDocument,
  { env, fault, faultIfStrict }: AgentReading,
): readonly A2aAgent[] {
  const names = new Set<string>();
  const ids = new Set<string>();
  const published = publishedAgents(document);

  function readSection(section: (typeof SECTIONS)[number]): readonly A2aAgent[] {
    function refuse(path: Path, message: string): void {
      const found = faultAt(document, [section, ...path], message);
      if (!isKnownFault(document, found)) fault(found);
    }
    const parsed = z.array(agentEntry).nullish().safeParse(document.content[section]);
    if (!parsed.success) {
      for (const issue of parsed.error.issues) refuse(pathOfIssue(issue), issue.message);
      return [];
    }
    return (parsed.data ?? []).map((entry, index) => {
      for (const [path, message] of warningsOf(entry))
        faultIfStrict(faultAt(document, [section, index, ...path], message));
      const headers = headersWithVariables(entry.static_headers ?? {}, env, (name, variable) =>
        refuse([index, 'static_headers', name], `the environment variable ${variable} it refers to is not set`),
      );
      const agent = agentOf(entry, headers, published);
      if (names.has(agent.name)) refuse([index, 'agent_name'], 'is the name of another agent, too');
      else if (ids.has(agent.id)) refuse([index, 'agent_id'], 'is the id of another agent, too');
      names.add(agent.name);
      ids.add(agent.id);
      for (const [path, message] of faultsOf(entry, headers)) refuse([index, ...path], message);
      return agent;
    });
  }

  return SECTIONS.flatMap(readSection);
}

/** Wrong values of an entry. `headers` are its static headers with the values of variables. */
function faultsOf(entry: Entry, headers: Readonly<Record<string, string>>): readonly EntryFault[] {
  const url = agentUrl(entry.agent_card_params ?? {});
  const faults: readonly (readonly [Path, string | null])[] = [
    [['static_headers'], headersFault(headers)],
    [['agent_card_params', 'url'], url === null ? null : targetFault(url)],
    [['kill_switch'], entry.kill_switch ? killSwitchFault(entry.kill_switch) : null],
    [['litellm_params'], paramsFault(entry.litellm_params ?? {})],
  ];
  return faults.flatMap(([path, message]) => (message === null ? [] : [[path, message] as const]));
}

/** Values of an entry that have no effect. */
function warningsOf(entry: Entry): readonly EntryFault[] {
  const unknown = Object.keys(entry).filter((name) => !MEMBERS.includes(name));
  const warnings = unknown.map((name): EntryFault => [[name], unknownMember(name, MEMBERS)]);
  if (foreignProvider(entry.litellm_params ?? {}) !== null) {
    const place = ['litellm_params', 'custom_llm_provider'];
    warnings.push([place, 'is not served: agents are called by the A2A protocol']);
  } else if (agentUrl(entry.agent_card_params ?? {}) === null)
    warnings.push([['agent_card_params'], 'has no url, so that the agent cannot be called']);
  return warnings;
}

/** Ids and names of the agents in `litellm_settings.public_agent_groups`. */
function publishedAgents({ content }: ConfigDocument): ReadonlySet<unknown> {
  const list = jsonObjectOf(content['litellm_settings'])['public_agent_groups'];
  return new Set(Array.isArray(list) ? (list as readonly unknown[]) : []);
}

function agentOf(entry: Entry, headers: Readonly<Record<string, string>>, published: ReadonlySet<unknown>): A2aAgent {
  const id = entry.agent_id ?? stableId(['a2a agent', entry.agent_name]);
  return {
    ...DEFAULT_AGENT,
    id,
    name: entry.agent_name,
    card: entry.agent_card_params ?? {},
    params: entry.litellm_params ?? {},
    staticHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, new Secret(value)])),
    extraHeaders: entry.extra_headers ?? [],
    objectPermission: entry.object_permission ?? null,
    accessGroupIds: entry.access_group_ids ?? [],
    tpmLimit: entry.tpm_limit ?? null,
    rpmLimit: entry.rpm_limit ?? null,
    sessionTpmLimit: entry.session_tpm_limit ?? null,
    sessionRpmLimit: entry.session_rpm_limit ?? null,
    enabled: entry.enabled ?? true,
    executionMode: entry.execution_mode ?? DEFAULT_AGENT.executionMode,
    killSwitch: entry.kill_switch ?? null,
    isPublic: published.has(id) || published.has(entry.agent_name),
    isReadable: true,
    isFromConfig: true,
  };
}
