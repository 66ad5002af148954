import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { createAnswerCheck } from '../support/documented-answers.ts';

/** Folder with recorded answers of the reference. It is not part of the repository. */
const FOLDER = new URL('../../../shared/data/reference/', import.meta.url);

/** Recorded request with its answer. */
export interface RecordedCase {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** Caller: `admin`, `none`, or `key:` and the placeholder of a key. */
  readonly role: string | null;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly body?: unknown;
  /** Bytes that are sent as JSON, one character for each. */
  readonly raw_body?: string | null;
  readonly form?: RecordedForm | null;
  readonly wait_before_s?: number | null;
  readonly expected?: string;
  readonly status: number;
  readonly response_body: unknown;
  /** Length of the complete body, if only its start is recorded. */
  readonly truncated?: number;
  /** Placeholders for later cases, with the paths of their values in the answer. */
  readonly capture?: Readonly<Record<string, string>> | null;
  /** Recorded calls of the upstream for this request. */
  readonly upstream_seen?: readonly SeenCall[];
}

/** Recorded call of the upstream. */
export interface SeenCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

interface RecordedForm {
  readonly data?: Readonly<Record<string, string>>;
  /** File name, content and media type by field. */
  readonly files?: Readonly<Record<string, readonly [string, string, string]>>;
}

/** Whether the folder with recordings exists. */
export const hasRecordings = existsSync(new URL('inference.json', FOLDER));

/** Recorded cases of a file, in order of recording. */
export const recordedCases = (name: string): readonly RecordedCase[] =>
  JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')) as readonly RecordedCase[];

/**
 * Configuration of the recordings. Placeholders are replaced by values: addresses of the upstreams, and the admin key.
 */
export function recordedConfig(name: string, values: Readonly<Record<string, string>>): Record<string, unknown> {
  const text = readFileSync(new URL(`configs/${name}.yaml`, FOLDER), 'utf8');
  const filled = text.replaceAll(/\{\{(\w+)\}\}/g, (_all, placeholder: string) => values[placeholder] ?? '');
  return parse(filled) as Record<string, unknown>;
}

/** Whether the answer of a case is recorded. Other cases are sent, because later cases may depend on them. */
export const hasRecordedAnswer = ({ expected }: RecordedCase): boolean => expected !== 'not told';

/**
 * Starts a fake upstream of the recordings in a child process: models, or decisions with coding agents and an echo. For
 * models, the base URL ends in `/v1`.
 */
export async function startRecordedUpstream(kind: 'models' | 'decisions' = 'models'): Promise<{
  readonly base: string;
  readonly stop: () => Promise<void>;
}> {
  const [script, probe, path] =
    kind === 'models' ? ['upstream.mjs', '/__calls', '/v1'] : ['upstream-decisions.mjs', '/__seen', ''];
  const port = await freePort();
  const child = spawn(process.execPath, [fileURLToPath(new URL(script, FOLDER))], {
    env: { ...process.env, UP_PORT: String(port) },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  const base = `http://127.0.0.1:${port}`;
  for (;;) {
    const answer = await fetch(`${base}${probe}`).catch(() => null);
    if (answer?.ok) break;
    if (child.exitCode !== null) throw new Error('The recorded upstream did not start.');
  }
  return {
    base: `${base}${path}`,
    async stop() {
      child.kill();
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('No free port.');
  return address.port;
}

/** Answer to a replayed case. */
export interface ReplayedAnswer {
  readonly status: number;
  readonly text: string;
  readonly contentType: string;
}

const answerFault = createAnswerCheck();

/** Sends recorded cases to a server in order. Placeholders are replaced by values of earlier answers. */
export function createReplay(url: string | (() => string), adminKey: string) {
  const base = (): string => (typeof url === 'string' ? url : url());
  const captured = new Map<string, string>();
  const fill = (text: string): string =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (placeholder, name: string) => captured.get(name) ?? placeholder);

  function bodyOf(recorded: RecordedCase): { readonly body?: BodyInit; readonly contentType?: string } {
    if (recorded.form) return formOf(recorded.form);
    if (typeof recorded.raw_body === 'string')
      return { body: Buffer.from(fill(recorded.raw_body), 'latin1'), contentType: 'application/json' };
    if (recorded.body === undefined || recorded.body === null) return {};
    return { body: fill(JSON.stringify(recorded.body)), contentType: 'application/json' };
  }

  function credentialOf({ role }: RecordedCase): Record<string, string> {
    if (role === 'admin') return { authorization: `Bearer ${adminKey}` };
    return role?.startsWith('key:') ? { authorization: `Bearer ${captured.get(role.slice(4)) ?? ''}` } : {};
  }

  return {
    /** Sets a placeholder value for later cases. */
    capture: (name: string, value: string): void => void captured.set(name, value),
    async send(recorded: RecordedCase): Promise<ReplayedAnswer> {
      const { body, contentType } = bodyOf(recorded);
      const headers = Object.entries(recorded.headers ?? {}).map(([name, value]) => [name.toLowerCase(), fill(value)]);
      const answer = await fetch(`${base()}${fill(recorded.path)}`, {
        method: recorded.method,
        redirect: 'manual',
        headers: {
          ...(contentType === undefined ? {} : { 'content-type': contentType }),
          ...credentialOf(recorded),
          ...(Object.fromEntries(headers) as Record<string, string>),
        },
        ...(body === undefined ? {} : { body }),
      });
      const text = await answer.text();
      for (const [name, path] of Object.entries(recorded.capture ?? {})) {
        const value = memberAt(parsed(text), path);
        if (typeof value === 'string') captured.set(name, value);
      }
      const type = answer.headers.get('content-type') ?? '';
      const response = {
        method: recorded.method,
        path: fill(recorded.path),
        status: answer.status,
        contentType: type,
        text,
      };
      const fault = answerFault(response);
      if (fault !== null) throw new Error(`The document does not describe the answer to "${recorded.name}": ${fault}`);
      return { status: answer.status, text, contentType: type };
    },
  };
}

function formOf({ data = {}, files }: RecordedForm): { readonly body: BodyInit; readonly contentType?: string } {
  if (files === undefined)
    return { body: new URLSearchParams(data).toString(), contentType: 'application/x-www-form-urlencoded' };
  const form = new FormData();
  for (const [name, value] of Object.entries(data)) form.set(name, value);
  for (const [name, [filename, content, type]] of Object.entries(files))
    form.set(name, new File([content], filename, { type }));
  return { body: form };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Value at a path of names and indexes, for example `data.0.id`; undefined when it does not exist. */
function memberAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, name) => {
    if (Array.isArray(inner)) return inner[Number(name)] as unknown;
    return isObject(inner) ? inner[name] : undefined;
  }, value);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Shape of an answer: its top-level fields, the fields of `error`, and `error.type`. A stream has the fields of all its
 * events. Null fields are omitted, except in `error`.
 */
export function shapeOf(body: unknown): readonly string[] {
  const read = typeof body === 'string' ? parsed(body) : body;
  const value = read === undefined ? body : read;
  if (typeof value === 'string') return shapeOfStream(value);
  if (Array.isArray(value)) return ['[]'];
  if (!isObject(value)) return [typeof value];
  return [...new Set(fieldsOf(value))].toSorted();
}

function shapeOfStream(text: string): readonly string[] {
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trim());
  if (events.length === 0) return [text === '' ? 'empty' : 'text'];
  const fields = events.flatMap((data) => {
    const value = parsed(data);
    return isObject(value) ? fieldsOf(value) : [data];
  });
  return [...new Set(fields)].toSorted();
}

function fieldsOf(value: Readonly<Record<string, unknown>>): readonly string[] {
  const outer = Object.keys(value).filter((name) => value[name] !== null);
  const { error, detail } = value;
  if (Array.isArray(detail)) return [...outer, 'detail[]'];
  if (!isObject(error)) return outer;
  return [...outer, ...Object.keys(error).map((name) => `error.${name}`), `error.type=${String(error['type'])}`];
}
