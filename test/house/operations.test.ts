import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { anyone } from '../../resolvers/operation/access.ts';
import { type Operation, allOperations } from '../../resolvers/operation/operation.ts';
import type { Caller } from '../../src/domain/caller.ts';
import { Forbidden } from '../../src/domain/errors.ts';
import { readFiles, ROOT, type SourceFile } from './repository.ts';

const TABLE = join(import.meta.dirname, 'access.md');

type Row = Pick<Operation<never, unknown>, 'operation' | 'access' | 'allowance'>;

/** Operations for anonymous callers without an allowance, with the reason. */
const WITHOUT_ALLOWANCE: Readonly<Record<string, string>> = {
  checkReadiness: 'probes must always be answered',
  admitMcpRequest: 'it refuses callers without the credentials that the servers of their request need',
  openMcpSession: 'it needs an admitted request',
  closeMcpSession: 'it needs an admitted request',
  watchMcpSession: 'it needs an admitted request, and reads no store',
  findMcpResource: 'clients need the document before they have a key, and it reads no store',
  createCheckout: 'buyers have often used up the free tier; the checkout has its own rate limit',
  callOpenEndpoint: 'the operator opened the path in the configuration; its target has its own limits',
  openPurchase: 'its page polls it, and shows what was paid for',
  replaceLostKey: 'it needs the secret of a purchase',
  takePaymentMessage: 'it accepts only messages that the payment provider signed',
  takeAgentMessage: 'it accepts only messages that the provider of coding agents signed',
  findLensWorker: 'it needs the token of a worker',
  readIngestionCredentials: 'it needs the token of the trace service',
  getPageImage: 'pages show it before there is a key, and it reads no store',
  getPageSettings: 'pages need it before there is a key, and it reads no store',
  signInForCode: 'it has the limits of sign-in',
  exchangeCode: 'it needs the code of a sign-in',
  startLogin: 'it has its own rate limit, and is how a command line gets a key',
  completeLogin: 'it has the limits of sign-in',
  collectLogin: 'it needs the secret of a login',
  findLoginIssuer: 'a command line needs the document before it has a key, and it reads no store',
  registerLoginClient: 'it has its own rate limit, and writes no store',
  checkAuthorization: 'it reads no store',
  authorizeLogin: 'it has the limits of sign-in',
  issueLoginTokens: 'it needs the code or the refresh token of a login',
  revokeLoginToken: 'it needs the token of a login',
  signIn: 'it has its own limits for failures, and is how a browser gets a key',
  readMetrics: 'a scraper comes every few seconds and must always be answered',
  getViewer: 'it repeats the key of the request and reads no store',
  readMarketplace: 'clients read it before they have a key; requests share one read of the store in five seconds',
  listPublicAgents: 'the operator made the agents public; they are in memory',
  getHubLinks: 'the operator made the links public; they are in memory',
  listPublicModels: 'the operator made the models public; they are in memory',
  listPublicMcpServers: 'the operator made the servers public; they are in memory',
  readMcpRegistry: 'the operator made the servers public; they are in memory',
  listPublicEndpoints: 'the list is in memory',
  getFreeTierUsage: 'a client must be able to see that its allowance is used up',
};

/** First words of read-only operations. */
const READING = new Set(['check', 'count', 'estimate', 'find', 'get', 'list', 'rank', 'read', 'search', 'watch']);

const READ_ONLY_ROLES = ['internal_user_viewer', 'proxy_admin_viewer'] as const;

/** Operations that may change state and that a read-only role may run, with the reason. */
const OPEN_TO_VIEWERS: Readonly<Record<string, string>> = {
  signIn: 'it gives a session with the rights of the credentials that were sent',
  signInForCode: 'open to everyone: it needs the credentials of a person',
  exchangeCode: 'it gives the session of the person who signed in',
  startLogin: 'open to everyone, also without a key',
  completeLogin: 'open to everyone: it needs the credentials of a person',
  collectLogin: 'it gives a session with the rights of the person who signed in',
  registerLoginClient: 'open to everyone, also without a key',
  authorizeLogin: 'open to everyone: it needs the credentials of a person',
  issueLoginTokens: 'it gives a session with the rights of the person who signed in',
  revokeLoginToken: 'it ends the session of a token that was sent',
  revokeCommandLineSession: 'it ends a session of the user',
  signOut: 'it ends the session of the caller',
  admitMcpRequest: 'every key may use the endpoints of the protocol; it changes nothing',
  openMcpSession: 'a session of the caller: it gives no rights',
  closeMcpSession: 'it ends the session of the caller',
  askForIde: 'a model call: the reference lets every key call models',
  callModel: 'a model call',
  testPrompt: 'a model call',
  queryRag: 'a search and a model call',
  resolveMcpTarget: 'it reads which servers a request names',
  showMcpTools: 'it reads tools',
  'comparePolicies by proxy_admin_viewer': 'it reads policies and compares them',
  callMcpTool: 'a call of a tool, paid by the caller: the reference lets every key make it',
  callA2aAgent: 'a call of an agent, paid by the caller: the reference lets every key make it',
  callEndpoint: 'a forwarded call, paid by the caller: the reference lets every key make it',
  callProvider: 'a forwarded call, paid by the caller',
  callUnconfigured: 'a forwarded call, paid by the caller',
  callCodingAgents: 'a forwarded call: the reference lets every key make it',
  callOpenEndpoint: 'open to everyone, also without a key',
  applyGuardrail: 'a check of a text: every key may call models, whose texts are checked alike',
  decide: 'a model call',
  decideTyped: 'a model call',
  streamDecision: 'a model call',
  completeChat: 'a model call',
  streamChat: 'a model call',
  createResponse: 'a model call',
  prepareResponse: 'a model call',
  takeResponseTurn: 'a model call',
  openRealtime: 'a model call',
  probeDeployments: 'a small model call for each deployment, paid by the caller',
  createCheckout: 'open to everyone, also without a key',
  openPurchase: 'open to everyone, also without a key',
  replaceLostKey: 'open to everyone, also without a key',
  takePaymentMessage: 'open to everyone, also without a key',
  takeAgentMessage: 'open to everyone: it accepts only messages that the provider of coding agents signed',
  'ingestTraces by internal_user_viewer': 'the interface of the reference excludes read-only proxy administrators only',
};

function tableOf(operations: readonly Row[]): string {
  const rows = operations
    .map(
      ({ operation, access, allowance }) =>
        `| ${operation} | ${access.name} | ${allowance ?? ''} | ${access.description} |`,
    )
    .toSorted();
  return [
    '# Who may run what',
    '',
    'Written by `test/house/operations.test.ts` from the operations themselves. A changed line here is a changed right.',
    '',
    'An anonymous request that runs an operation with an allowance counts against it once.',
    '',
    '| Operation | Access rule | Allowance | Means |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

const anOperation = (overrides: Partial<Row>): Row => ({
  operation: 'readTrace',
  access: anyone,
  allowance: null,
  ...overrides,
});

/** Operations for anonymous callers without an allowance and without a stated reason. */
const uncounted = (operations: readonly Row[]): readonly string[] =>
  operations
    .filter(({ access, allowance }) => access === anyone && allowance === null)
    .map(({ operation }) => operation)
    .filter((name) => !Object.hasOwn(WITHOUT_ALLOWANCE, name));

async function loadOperations(): Promise<readonly Row[]> {
  for (const { path } of readFiles('resolvers/**/*.ts')) await import(join(ROOT, path));
  return allOperations();
}

it('the table of rights equals the reviewed table', async () => {
  const operations = await loadOperations();
  expect(existsSync(TABLE)).toBe(true);
  expect(operations.length).toBeGreaterThan(8);
  await expect(tableOf(operations)).toMatchFileSnapshot(TABLE);
});

it('a changed right changes the table', () => {
  const rights = (name: string): Row => anOperation({ access: { name, description: name, check() {} } });
  expect(tableOf([rights('anyone')])).not.toEqual(tableOf([rights('admin')]));
  expect(tableOf([anOperation({})])).not.toEqual(tableOf([anOperation({ allowance: 'catalog' })]));
});

it('an operation for anonymous callers counts against an allowance, or has a stated reason', async () => {
  expect(uncounted(await loadOperations())).toEqual([]);
  expect(uncounted([anOperation({}), anOperation({ operation: 'checkReadiness' })])).toEqual(['readTrace']);
  expect(uncounted([anOperation({ allowance: 'catalog' })])).toEqual([]);
});

/** Operations that may change state and that a read-only role may run without a stated reason. */
function openToViewers(operations: readonly Row[]): readonly string[] {
  const caller: Omit<Caller, 'role'> = { keyHash: 'k', key: null, teamId: null, userId: null };
  return operations
    .filter(({ operation }) => !READING.has(/^[a-z]+/.exec(operation)?.[0] ?? ''))
    .flatMap(({ operation, access }) => READ_ONLY_ROLES.map((role) => ({ operation, access, role })))
    .filter(({ operation, role }) => !(operation in OPEN_TO_VIEWERS) && !(`${operation} by ${role}` in OPEN_TO_VIEWERS))
    .filter(({ access, role }) => {
      try {
        access.check({ ...caller, role });
        return true;
      } catch (error) {
        // Only Forbidden refuses the role.
        return !(error instanceof Forbidden);
      }
    })
    .map(({ operation, role }) => `${operation} by ${role}`);
}

it('read-only roles run no changing operation without a stated reason', async () => {
  expect(openToViewers(await loadOperations())).toEqual([]);
  expect(openToViewers([anOperation({ operation: 'eraseAll' }), anOperation({})])).toEqual([
    'eraseAll by internal_user_viewer',
    'eraseAll by proxy_admin_viewer',
  ]);
});

/** Files without an operation. */
const withoutOperation = (files: readonly SourceFile[]): readonly string[] =>
  files.filter(({ text }) => !/ = operation\(\{/.test(text)).map(({ path }) => path);

it('a file of resolvers/ declares operations; shared code is in resolvers/operation/', () => {
  expect(withoutOperation(readFiles('resolvers/*.ts'))).toEqual([]);
  const shared = readFiles('resolvers/operation/*.ts');
  expect(withoutOperation(shared)).toEqual(shared.map(({ path }) => path));
  expect(withoutOperation([{ path: 'resolvers/canary.ts', text: 'export const rows = 1;' }])).toHaveLength(1);
});

it('no two operations share a name', async () => {
  const names = (await loadOperations()).map(({ operation }) => operation);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
