import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Readonly<Record<string, unknown>>;
type Answer = readonly [status: number, body: Json | Buffer];

interface ReceivedCall {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  /** Bytes as Latin-1 text. */
  readonly body: string;
}

/** An upstream with Anthropic's APIs of skills and messages, in memory. Its accounts share no skill. */
export interface SkillUpstream {
  readonly url: string;
  readonly received: readonly ReceivedCall[];
  /** Ids of the skills of an account, which is named by its API key. */
  ids(account: string): readonly string[];
  stop(): Promise<void>;
}

interface Skill {
  readonly account: string;
  readonly name: string;
  readonly versions: readonly Json[];
}

/** ZIP archive of a version: bytes that no test unpacks. */
export const ARCHIVE = Buffer.from([0x50, 0x4b, 3, 4, 0, 255]);
const CREATED_AT = '2026-11-30T00:00:00Z';

const failure = (status: number, message: string): Answer => [
  status,
  { type: 'error', error: { type: status === 404 ? 'not_found_error' : 'invalid_request_error', message } },
];

const field = (body: string, name: string): string | undefined =>
  new RegExp(`name="${name}"\\r\\n\\r\\n([^\\r]*)`).exec(body)?.[1];

/**
 * Starts the upstream on a free loopback port. An upload with the `display_name` `status:<n>` is refused with that
 * status. A skill named `broken`, and a page of this name, cannot be read.
 */
export async function startSkillUpstream(): Promise<SkillUpstream> {
  const received: ReceivedCall[] = [];
  const skills = new Map<string, Skill>();
  let count = 0;
  const nextId = (prefix: string): string => {
    count += 1;
    return `${prefix}01Up${String(count).padStart(20, '0')}`;
  };
  const shownSkill = (id: string, { name, versions }: Skill): Json => ({
    id,
    type: 'skill',
    display_name: name,
    latest_version_id: versions.at(-1)?.['id'] ?? null,
    source: { type: 'custom' },
    created_at: CREATED_AT,
    updated_at: CREATED_AT,
  });
  const newVersion = (skillId: string): Json => ({
    id: nextId('skillver_'),
    type: 'skill_version',
    skill_id: skillId,
    name: 'sums',
    description: `Adds. Part of ${skillId}.`,
    created_at: CREATED_AT,
  });

  function create(account: string, body: string): Answer {
    const name = field(body, 'display_name') ?? 'sums';
    const refused = /^status:(\d+)$/.exec(name)?.[1];
    if (refused !== undefined) return failure(Number(refused), 'refused');
    if (!body.includes('SKILL.md')) return failure(400, 'SKILL.md is missing');
    const id = nextId('skill_');
    const skill = { account, name, versions: [newVersion(id)] };
    skills.set(id, skill);
    return [200, shownSkill(id, skill)];
  }

  function aboutVersions(id: string, skill: Skill, call: ReceivedCall, version: string | undefined): Answer {
    if (version === undefined && call.method === 'GET')
      return [200, { data: skill.versions, has_more: false, next_page: null }];
    if (version === undefined) {
      if (!call.body.includes('SKILL.md')) return failure(400, 'SKILL.md is missing');
      const made = newVersion(id);
      skills.set(id, { ...skill, versions: [...skill.versions, made] });
      return [200, made];
    }
    const found = skill.versions.find((one) => one['id'] === version);
    if (found === undefined) return failure(404, `Skill version not found: ${id} ${version}`);
    if (call.path.endsWith('/content')) return [200, ARCHIVE];
    if (call.method === 'GET') return [200, found];
    skills.set(id, { ...skill, versions: skill.versions.filter((one) => one !== found) });
    return [200, { id: version, type: 'skill_version_deleted' }];
  }

  /** All skills of the account, and one that the provider publishes. */
  function list(account: string): Answer {
    const own = [...skills].filter(([, one]) => one.account === account).map(([id, one]) => shownSkill(id, one));
    const published = { id: 'pdf', type: 'skill', display_name: 'PDF', source: { type: 'anthropic' } };
    return [200, { data: [...own, published], has_more: false, next_page: null }];
  }

  /** An answer that names the loaded skills, as Anthropic does. */
  function message(account: string, body: Json): Answer {
    const { container } = body as { readonly container?: Json };
    const named = container?.['skills'];
    const loaded: readonly Json[] = Array.isArray(named) ? (named as readonly Json[]) : [];
    const missing = loaded.find(
      (one) => one['type'] === 'custom' && skills.get(String(one['skill_id']))?.account !== account,
    );
    if (missing !== undefined) return failure(404, `Skill not found: ${String(missing['skill_id'])}`);
    return [
      200,
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: body['model'],
        content: [{ type: 'text', text: 'done' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
        container: { id: 'container_1', expires_at: CREATED_AT, skills: loaded },
      },
    ];
  }

  function answer(call: ReceivedCall): Answer {
    const account = String(call.headers['x-api-key']);
    const [, , kind, id, versions, version] = call.path.split('/').map(decodeURIComponent);
    if (kind === 'messages') return message(account, JSON.parse(call.body) as Json);
    if (!String(call.headers['anthropic-beta']).includes('skills-')) return failure(400, 'The beta header is missing.');
    if (call.search.includes('page=broken')) return failure(500, 'broken');
    if (id === undefined) return call.method === 'POST' ? create(account, call.body) : list(account);
    const skill = skills.get(id);
    if (skill?.account !== account) return failure(404, `Skill not found: ${id}`);
    if (skill.name === 'broken') return failure(500, 'broken');
    if (versions !== undefined) return aboutVersions(id, skill, call, version);
    if (call.method === 'GET') return [200, shownSkill(id, skill)];
    if (skill.versions.length > 1) return failure(400, 'Delete the versions of the skill first.');
    skills.delete(id);
    return [200, { id, type: 'skill_deleted' }];
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const { pathname, search } = new URL(request.url ?? '/', 'http://127.0.0.1');
      const body = Buffer.concat(chunks).toString('latin1');
      const call = { method: request.method ?? '', path: pathname, search, headers: request.headers, body };
      received.push(call);
      const [status, value] = answer(call);
      const isBinary = value instanceof Buffer;
      response.writeHead(status, { 'content-type': isBinary ? 'application/zip' : 'application/json' });
      response.end(isBinary ? value : JSON.stringify(value));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    ids: (account) => [...skills].filter(([, one]) => one.account === account).map(([id]) => id),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
