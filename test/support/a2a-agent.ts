import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { AgentCard, type Message, Role, type Task, TaskState } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
  ServerCallContext,
} from '@a2a-js/sdk/server';

/** A request that the agent received. */
interface AgentRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly method?: string; readonly params?: unknown };
  /** Resolves when the connection of the request has closed before the answer ended. */
  readonly aborted: Promise<void>;
}

/** An agent on 127.0.0.1, built from the server of the official SDK. */
export interface TestAgent {
  readonly url: string;
  readonly requests: AgentRequest[];
  /** Lets tasks that wait continue. */
  release(): void;
  stop(): Promise<void>;
}

const textPart = (value: string) => ({
  content: { $case: 'text' as const, value },
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
});

const textOf = ({ userMessage }: RequestContext): string =>
  userMessage.parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');

/**
 * Answers a message with its text. `task…` starts a task that completes. `wait…` starts a task that waits for a release
 * or a cancellation. `fail…` throws.
 */
class EchoExecutor implements AgentExecutor {
  #continue: (() => void)[] = [];
  readonly #cancelled = new Set<string>();

  release(): void {
    for (const resume of this.#continue.splice(0)) resume();
  }

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const sent = textOf(context);
    const { taskId, contextId } = context;
    if (sent.startsWith('fail')) throw new Error('the agent failed');
    if (!sent.startsWith('task') && !sent.startsWith('wait')) {
      const message: Message = {
        messageId: `answer-${context.userMessage.messageId}`,
        contextId,
        taskId: '',
        role: Role.ROLE_AGENT,
        parts: [textPart(`echo: ${sent}`)],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      };
      bus.publish(AgentEvent.message(message));
      bus.finished();
      return;
    }
    const task: Task = {
      id: taskId,
      contextId,
      status: { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined },
      artifacts: [],
      history: [context.userMessage],
      metadata: undefined,
    };
    bus.publish(AgentEvent.task(task));
    if (sent.startsWith('wait')) await new Promise<void>((resolve) => this.#continue.push(resolve));
    const isCancelled = this.#cancelled.has(taskId);
    if (!isCancelled)
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact: {
            artifactId: 'a',
            name: 'answer',
            description: '',
            parts: [textPart(`done: ${sent}`)],
            metadata: undefined,
            extensions: [],
          },
          append: false,
          lastChunk: true,
          metadata: undefined,
        }),
      );
    const state = isCancelled ? TaskState.TASK_STATE_CANCELED : TaskState.TASK_STATE_COMPLETED;
    bus.publish(
      AgentEvent.statusUpdate({
        taskId,
        contextId,
        status: { state, message: undefined, timestamp: undefined },
        metadata: undefined,
      }),
    );
    bus.finished();
  }

  async cancelTask(taskId: string): Promise<void> {
    this.#cancelled.add(taskId);
    this.release();
  }
}

const isStream = (answer: unknown): answer is AsyncIterable<unknown> =>
  typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;

/** The card of an agent in the form of the protocol's version. */
export const cardOf = (url: string, version: '0.3' | '1.0' = '1.0') =>
  version === '1.0'
    ? {
        name: 'echo',
        description: 'Echoes texts.',
        version: '1',
        protocolVersion: '1.0',
        url,
        supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
        capabilities: { streaming: true },
        defaultInputModes: ['text'],
        defaultOutputModes: ['text'],
        skills: [],
      }
    : {
        name: 'echo',
        description: 'Echoes texts.',
        version: '1',
        protocolVersion: '0.3.0',
        url,
        preferredTransport: 'JSONRPC',
        capabilities: { streaming: true },
        defaultInputModes: ['text'],
        defaultOutputModes: ['text'],
        skills: [],
      };

/** Starts an agent that serves one version of the protocol. */
export async function startAgent(version: '0.3' | '1.0' = '1.0'): Promise<TestAgent> {
  const requests: AgentRequest[] = [];
  const executor = new EchoExecutor();
  const card = AgentCard.fromJSON(cardOf('http://127.0.0.1/', '1.0'));
  const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  const transport =
    version === '1.0' ? new JsonRpcTransportHandler(handler) : new LegacyJsonRpcTransportHandler(handler);

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request)) as AgentRequest['body'];
    const aborted = new Promise<void>((resolve) =>
      response.once('close', () => {
        if (!response.writableFinished) resolve();
      }),
    );
    requests.push({ headers: request.headers, body, aborted });
    const context = new ServerCallContext({ requestedVersion: version });
    const answer: unknown = await transport.handle(body, context);
    if (!isStream(answer)) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answer));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    response.flushHeaders();
    for await (const event of answer) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end();
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    release: () => executor.release(),
    async stop() {
      executor.release();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
