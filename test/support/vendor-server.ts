import { systemClock } from '../../src/runtime/clock.ts';
import { collect } from '../../src/domain/bytes.ts';
import type { Exchange, ModelRequest } from '../../src/domain/chat/chat.ts';
import type { Deployment, Provider } from '../../src/domain/chat/provider.ts';
import { UpstreamFailed } from '../../src/domain/errors.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { PassThrough } from '../../src/domain/upstream-objects/pass-through.ts';
import { createProviders } from '../../src/providers/providers.ts';
import { createAwsAccounts } from '../../src/runtime/credentials/aws-accounts.ts';
import { createGoogleTokens } from '../../src/runtime/credentials/google-tokens.ts';
import { createHttpClient } from '../../src/runtime/http-client/client.ts';
import { webSocketClient } from '../../src/runtime/network/web-sockets.ts';
import { aDeployment, aModelRequest } from './chat.ts';
import { type FaultServer, startFaultServer } from './fault-server.ts';

/** Minimal valid chat request. */
export const CHAT = { model: 'm', messages: [{ role: 'user', content: 'x' }] };

/** Scripted upstream, and the adapters of all providers that call it. */
export interface VendorServer {
  readonly faults: FaultServer;
  /** Deployment of a provider at this upstream. */
  deploymentOf(provider: string, overrides?: Partial<Deployment>): Deployment;
  /** Sets the answer to the next calls. */
  answerWith(body: object | string, status?: number, type?: string): void;
  lastReceived(): FaultServer['received'][number];
  send(deployment: Deployment, request?: ModelRequest): Promise<Exchange>;
  /** Passes a call about a stored upstream object through. */
  pass(deployment: Deployment, request: PassThrough): Promise<Exchange>;
  stop(): Promise<void>;
}

const NEVER = new AbortController().signal;

export async function startVendorServer(): Promise<VendorServer> {
  const http = createHttpClient();
  const tools = {
    http,
    sockets: webSocketClient,
    googleTokens: createGoogleTokens(),
    awsAccounts: createAwsAccounts(),
    clock: systemClock,
  };
  const faults = await startFaultServer();
  const providerOf = (name: string): Provider => {
    const provider = createProviders(tools).find((candidate) => candidate.name === name);
    if (!provider) throw new Error(`no provider is called ${name}`);
    return provider;
  };
  return {
    faults,
    deploymentOf: (provider, overrides = {}) =>
      aDeployment({ provider, apiBase: faults.url, apiKey: new Secret('the-key'), ...overrides }),
    answerWith(body, status = 200, type = 'application/json') {
      faults.answer((response) => {
        response.writeHead(status, { 'content-type': type });
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
      });
    },
    lastReceived() {
      const last = faults.received.at(-1);
      if (!last) throw new Error('the server received no request');
      return last;
    },
    send: (deployment, request = aModelRequest(CHAT)) =>
      providerOf(deployment.provider).send(deployment, request, NEVER),
    async pass(deployment, request) {
      const { pass } = providerOf(deployment.provider);
      if (!pass) throw new Error(`${deployment.provider} stores no objects`);
      return await pass(deployment, request, NEVER);
    },
    async stop() {
      await http.close();
      await faults.stop();
    },
  };
}

export const textOf = async (exchange: Exchange): Promise<string> =>
  Buffer.from((await collect(exchange.bytes, 1e6)) ?? []).toString('utf8');

export const jsonOf = async (exchange: Exchange): Promise<unknown> => JSON.parse(await textOf(exchange));

/** Failure of a call. Throws if the call succeeds. */
export async function failureOf(sending: Promise<Exchange>): Promise<UpstreamFailed> {
  const failure: unknown = await sending.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
  if (failure instanceof UpstreamFailed) return failure;
  throw failure;
}
