import { createHash } from 'node:crypto';
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
import type { ConfigFault } from './config-fault.ts';
import type { Path } from './config-references.ts';
import { unknownMember } from './nearest-name.ts';

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

/** A name of a variable inside a longer text, as in `Bearer os.environ/KEY`. */
const REFERENCE = /os\.environ\/([A-Za-z_]\w*)/g;

interface AgentReading {
  readonly env: NodeJS.ProcessEnv;
  /** A wrong value, which stops the start. */
  readonly fault: (fault: ConfigFault) => void;
  /** A value without an effect, which stops the start only where the configuration is strict. */
  readonly faultIfStrict: (fault: ConfigFault) => void;
}

/** The agents of the file; without those of a section in which an entry has a wrong form. */
export function readA2aAgents(
  document: ConfigDocument,
  { env, fault, faultIfStrict }: AgentReading,
): readonly A2aAgent[] {
  const names = new Set<string>();
  const published = publishedAgents(document);

  function readSection(section: (typeof SECTIONS)[number]): readonly A2aAgent[] {
    const refuse = (path: Path, message: string): void => {
      const place = [section, ...path];
      const key = place.join('.');
      // A reference to an unset variable is reported already.
      if (!document.faults.some((known) => known.key === key)) fault({ ...document.placeOf(place), key, message });
    };
    const parsed = z.array(agentEntry).nullish().safeParse(document.content[section]);
    if (!parsed.success) {
      for (const { path, message } of parsed.error.issues)
        refuse(
          path.map((part) => (typeof part === 'symbol' ? part.toString() : part)),
          message,
        );
      return [];
    }
    return (parsed.data ?? []).map((one, index) => {
      for (const [path, message] of warningsOf(one)) {
        const place = [section, index, ...path];
        faultIfStrict({ ...document.placeOf(place), key: place.join('.'), message });
      }
      if (names.has(one.agent_name)) refuse([index, 'agent_name'], 'is the name of another agent, too');
      names.add(one.agent_name);
      const headers = headersOf(one, env, (name, variable) =>
        refuse([index, 'static_headers', name], `the environment variable ${variable} it refers to is not set`),
      );
      const wrongHeaders = headersFault(headers);
      if (wrongHeaders !== null) refuse([index, 'static_headers'], wrongHeaders);
      const url = agentUrl(one.agent_card_params ?? {});
      const wrongUrl = url === null ? null : targetFault(url);
      if (wrongUrl !== null) refuse([index, 'agent_card_params', 'url'], wrongUrl);
      const wrongSwitch = one.kill_switch ? killSwitchFault(one.kill_switch) : null;
      if (wrongSwitch !== null) refuse([index, 'kill_switch'], wrongSwitch);
      const wrongParam = paramsFault(one.litellm_params ?? {});
      if (wrongParam !== null) refuse([index, 'litellm_params'], wrongParam);
      return agentOf(one, headers, published);
    });
  }

  return SECTIONS.flatMap(readSection);
}

/** Places of an entry that have no effect, and why. */
function warningsOf(one: Entry): readonly (readonly [Path, string])[] {
  const provider = foreignProvider(one.litellm_params ?? {});
  const unknown = Object.keys(one).filter((name) => !MEMBERS.includes(name));
  return [
    ...unknown.map((name): readonly [Path, string] => [[name], unknownMember(name, MEMBERS)]),
    ...(provider === null
      ? []
      : [[['litellm_params', 'custom_llm_provider'], 'is not served: agents are called by the A2A protocol'] as const]),
    ...(provider === null && agentUrl(one.agent_card_params ?? {}) === null
      ? [[['agent_card_params'], 'has no url, so that the agent cannot be called'] as const]
      : []),
  ];
}

/** Ids and names of the agents in `litellm_settings.public_agent_groups`. */
function publishedAgents({ content }: ConfigDocument): ReadonlySet<unknown> {
  const list = jsonObjectOf(content['litellm_settings'])['public_agent_groups'];
  return new Set(Array.isArray(list) ? (list as readonly unknown[]) : []);
}

/** The static headers of an entry, with the values of the variables that they refer to. */
function headersOf(
  { static_headers: headers }: Entry,
  env: NodeJS.ProcessEnv,
  unset: (name: string, variable: string) => void,
): Readonly<Record<string, string>> {
  const resolved = Object.entries(headers ?? {}).map(([name, value]): [string, string] => {
    const text = value.replaceAll(REFERENCE, (_all, variable: string) => {
      if (!env[variable]) unset(name, variable);
      return env[variable] ?? '';
    });
    return [name, text];
  });
  return Object.fromEntries(resolved);
}

function agentOf(one: Entry, headers: Readonly<Record<string, string>>, published: ReadonlySet<unknown>): A2aAgent {
  const id = one.agent_id ?? idOf(one.agent_name);
  return {
    ...DEFAULT_AGENT,
    id,
    name: one.agent_name,
    card: one.agent_card_params ?? {},
    params: one.litellm_params ?? {},
    staticHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, new Secret(value)])),
    extraHeaders: one.extra_headers ?? [],
    objectPermission: one.object_permission ?? null,
    accessGroupIds: one.access_group_ids ?? [],
    tpmLimit: one.tpm_limit ?? null,
    rpmLimit: one.rpm_limit ?? null,
    sessionTpmLimit: one.session_tpm_limit ?? null,
    sessionRpmLimit: one.session_rpm_limit ?? null,
    enabled: one.enabled ?? true,
    executionMode: one.execution_mode ?? DEFAULT_AGENT.executionMode,
    killSwitch: one.kill_switch ?? null,
    isPublic: published.has(id) || published.has(one.agent_name),
    isReadable: true,
    isFromConfig: true,
  };
}

/** Stable id, equal in every start and every process. */
const idOf = (name: string): string =>
  createHash('sha256')
    .update(JSON.stringify(['a2a agent', name]))
    .digest('hex')
    .slice(0, 32);
