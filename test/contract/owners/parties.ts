import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { traceRefOf } from '../../support/memory-trace-store.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { configOver, serveFiles, lineFor, newKey, upload } from '../files/file-client.ts';
import { otlpExport, otlpSpan } from '../traces/trace-client.ts';

/** Trace id that every owner uses. */
export const SHARED_TRACE = '5'.repeat(32);

/** A key with its team. `seesAll` is true for administrators with full or read-only access. */
export interface Party {
  readonly name: string;
  readonly key: string;
  readonly keyHash: string;
  /** Empty without a team. */
  readonly teamId: string;
  readonly seesAll: boolean;
}

/** Objects that the key `owner` created. All of them except the file contain the text `mark`. */
export interface OwnedObjects {
  readonly owner: Party;
  readonly mark: string;
  readonly file: string;
  readonly batch: string;
  readonly response: string;
  /** Trace id of an export with one span. The span id is sixteen ones. */
  readonly trace: string;
  readonly traceRef: string;
  /** Trace id of a call through the gateway. */
  readonly callTraceId: string;
}

export interface OwnersFixture {
  readonly app: TestApp;
  readonly parties: readonly Party[];
  readonly objects: readonly OwnedObjects[];
  stop(): Promise<void>;
}

const DRAFTS: Readonly<Record<string, object>> = {
  'a key without a team': {},
  'another key without a team': {},
  'a key without a team that is read-only': { user_role: 'internal_user_viewer' },
  'a key of team a': { team_id: 'team-a' },
  'another key of team a': { team_id: 'team-a' },
  'a read-only key of team a': { team_id: 'team-a', user_role: 'internal_user_viewer' },
  'a key of team b': { team_id: 'team-b' },
  'a read-only administrator': { user_role: 'proxy_admin_viewer' },
};

/** Parties that create objects. */
const OWNERS = new Set([
  'a key without a team',
  'another key without a team',
  'a key of team a',
  'another key of team a',
  'a key of team b',
  'the administrator',
]);

/** Whether a reader has access to the rows of an owner. */
export const maySee = (reader: Party, owner: Party): boolean =>
  reader.seesAll || (reader.teamId === '' ? reader.key === owner.key : reader.teamId === owner.teamId);

/** Starts an app with all parties and the objects of six of them. */
export async function startOwnersFixture(): Promise<OwnersFixture> {
  const upstream: FaultServer = await startFaultServer();
  const app = await startApp({ config: configOver(upstream, { store_prompts_in_spend_logs: true }) });
  serveFiles(upstream);
  const parties: Party[] = [];
  const addParty = (name: string, key: string, draft: object): void => {
    const { team_id: teamId = '', user_role: role } = draft as { team_id?: string; user_role?: string };
    const seesAll = role?.startsWith('proxy_admin') ?? false;
    parties.push({ name, key, keyHash: keyGenerator.hash(key), teamId, seesAll });
  };
  for (const [name, draft] of Object.entries(DRAFTS))
    addParty(name, await newKey(app, { ...draft, key_alias: `mark of ${name}` }), draft);
  addParty('the administrator', app.adminKey, { user_role: 'proxy_admin' });
  const objects: OwnedObjects[] = [];
  for (const owner of parties.filter(({ name }) => OWNERS.has(name))) objects.push(await createObjects(app, owner));
  return {
    app,
    parties,
    objects,
    async stop() {
      await app.stop();
      await upstream.stop();
    },
  };
}

/** Sends an export with one failed agent span. */
export async function sendTrace(app: TestApp, owner: Party, traceId: string, mark: string): Promise<void> {
  const values = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': mark,
    'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: mark }] }]),
  };
  const span = otlpSpan('1', 0, 5, values, { traceId, name: mark, status: { code: 2, message: `failed: ${mark}` } });
  const answer = await app.call('POST', '/v1/traces', otlpExport(span), { authorization: `Bearer ${owner.key}` });
  if (answer.status !== 200) throw new Error(`an export of ${owner.name} was refused: ${await answer.text()}`);
}

async function createObjects(app: TestApp, owner: Party): Promise<OwnedObjects> {
  const mark = `mark of ${owner.name}`;
  const headers = { authorization: `Bearer ${owner.key}` };
  const create = async (path: string, body: object, extraHeaders: Record<string, string> = {}) => {
    const answer = await app.call('POST', path, body, { ...headers, ...extraHeaders });
    const created = (await answer.json()) as { id: string };
    if (answer.status !== 200) throw new Error(`${path} for ${owner.name}: ${JSON.stringify(created)}`);
    return created.id;
  };
  const { id: file } = await upload(
    app,
    { purpose: 'batch' },
    { key: owner.key, content: `${lineFor('assistant')}\n` },
  );
  const window = { endpoint: '/v1/chat/completions', completion_window: '24h' };
  const batch = await create('/v1/batches', { input_file_id: file, ...window, metadata: { mark } });
  const response = await create('/v1/responses', { model: 'assistant', input: mark, mock_response: mark });
  const trace = owner.keyHash.slice(0, 32);
  await sendTrace(app, owner, trace, mark);
  await sendTrace(app, owner, SHARED_TRACE, mark);
  const callTraceId = owner.keyHash.slice(32);
  const chat = { model: 'assistant', messages: [{ role: 'user', content: mark }], mock_response: mark, user: mark };
  await create('/v1/chat/completions', chat, { traceparent: `00-${callTraceId}-6666666666666666-01` });
  const traceRef = traceRefOf({ teamId: owner.teamId, keyHash: owner.keyHash }, trace);
  return { owner, mark, file, batch, response, trace, traceRef, callTraceId };
}
