import type { ByteSink, ByteStream } from '../../domain/bytes.ts';
import type { ChatExchange, ChatRequest } from '../../domain/chat/chat.ts';
import type { ChatProvider, Deployment } from '../../domain/chat/provider.ts';
import { eventOf } from '../../wire/chat-completions/events.ts';
import { streamedExchange, wholeExchange } from '../../wire/chat-completions/exchange.ts';
import { EventRelay } from '../../wire/chat-completions/relay.ts';
import { composeReply, countTokens, type DemoReply } from './reply.ts';

/** The built-in deployment: needs no key, costs nothing, answers to `demo`. */
export const demoDeployment: Deployment = {
  id: 'demo',
  modelGroup: 'demo',
  provider: 'demo',
  upstreamModel: 'demo',
  apiBase: null,
  apiKey: null,
  timeoutSeconds: 60,
  priceOverrides: { input_cost_per_token: 0, output_cost_per_token: 0 },
  baseModel: null,
};

/** Answers from this process, in the same words for the same request, so that everything works without an upstream. */
export function createDemo(): ChatProvider {
  return {
    name: 'demo',
    async send(_deployment, request, signal) {
      signal.throwIfAborted();
      const reply = composeReply(request.body);
      const envelope = {
        id: `chatcmpl-demo-${crypto.randomUUID()}`,
        created: Math.floor(Date.now() / 1000),
        model: request.model,
      };
      return request.stream ? await streamed(request, reply, envelope) : whole(request, reply, envelope);
    },
  };
}

interface Envelope {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

const HEAD = { status: 200, headers: {} } as const;

function whole(request: ChatRequest, reply: DemoReply, envelope: Envelope): ChatExchange {
  const message =
    reply.kind === 'text'
      ? { role: 'assistant', content: reply.text }
      : { role: 'assistant', content: null, tool_calls: [toolCallOf(reply)] };
  const value = {
    ...envelope,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: finishReasonOf(reply) }],
    usage: usageOf(request, reply),
  };
  const textLimit = request.textLimit ?? 0;
  return wholeExchange(HEAD, { bytes: Buffer.from(JSON.stringify(value)), value }, { model: request.model, textLimit });
}

async function streamed(request: ChatRequest, reply: DemoReply, envelope: Envelope): Promise<ChatExchange> {
  const chunk = (delta: object, finishReason: string | null = null): Buffer =>
    eventOf(
      JSON.stringify({
        ...envelope,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, finish_reason: finishReason }],
      }),
    );
  const deltas =
    reply.kind === 'text'
      ? piecesOf(reply.text).map((content) => ({ content }))
      : toolCallDeltas(reply).map((call) => ({ tool_calls: [call] }));
  const usage = { ...envelope, object: 'chat.completion.chunk', choices: [], usage: usageOf(request, reply) };
  const events = [
    chunk({ role: 'assistant', content: reply.kind === 'text' ? '' : null }),
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, finishReasonOf(reply)),
    eventOf(JSON.stringify(usage)),
    eventOf('[DONE]'),
  ];
  const impossible = (): Error => new TypeError('The demo model broke its own format.');
  const relay = new EventRelay(oneByOne(events), {
    model: request.model,
    dropUsage: !request.includeUsage,
    textLimit: request.textLimit ?? 0,
    refused: impossible,
    garbled: impossible,
  });
  await relay.opened;
  return streamedExchange(HEAD, relay);
}

const finishReasonOf = (reply: DemoReply): string => (reply.kind === 'text' ? 'stop' : 'tool_calls');

const toolCallOf = (reply: Extract<DemoReply, { kind: 'toolCall' }>): object => ({
  id: `call_demo_${reply.name}`,
  type: 'function',
  function: { name: reply.name, arguments: reply.arguments },
});

function toolCallDeltas(reply: Extract<DemoReply, { kind: 'toolCall' }>): readonly object[] {
  return [
    {
      index: 0,
      id: `call_demo_${reply.name}`,
      type: 'function',
      function: { name: reply.name, arguments: '' },
    },
    ...piecesOf(reply.arguments).map((piece) => ({ index: 0, function: { arguments: piece } })),
  ];
}

function usageOf({ body }: ChatRequest, reply: DemoReply): object {
  const prompt = countTokens(JSON.stringify(body['messages'] ?? []));
  const completion = countTokens(reply.kind === 'text' ? reply.text : `${reply.name}${reply.arguments}`);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

/** Words with the space before them: small enough to see a stream grow. */
const piecesOf = (text: string): readonly string[] => text.match(/\s*\S+|\s+$/g) ?? [];

/** The events one at a time, each in its own turn of the loop, as an upstream's arrive. */
function oneByOne(events: readonly Buffer[]): ByteStream {
  let sink: ByteSink | null = null;
  let at = 0;
  let scheduled = false;
  let over = false;
  const step = (): void => {
    scheduled = false;
    if (over || sink === null) return;
    const event = events[at];
    if (event === undefined) {
      over = true;
      sink.done();
      return;
    }
    at += 1;
    if (sink.chunk(event)) schedule();
  };
  const schedule = (): void => {
    if (scheduled || over) return;
    scheduled = true;
    setImmediate(step);
  };
  return {
    pipe(reader) {
      sink = reader;
      schedule();
    },
    resume: schedule,
    cancel() {
      over = true;
    },
  };
}
