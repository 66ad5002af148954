import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { judgeAnswer } from './judge.ts';

type Messages = readonly { readonly role: string; readonly content: string }[];

/** A loopback server of chat completions with the answers of the scripted reviewer. */
export interface JudgeServer {
  /** Base address with `/v1`. */
  readonly base: string;
  /** Number of calls so far, with those that get no answer. */
  calls(): number;
  stop(): Promise<void>;
}

/** `answer` replaces the reviewer's answers. Each answer waits `delayMs`. */
export async function startJudge({
  answer = judgeAnswer,
  delayMs = 0,
}: {
  readonly answer?: (messages: Messages, nth: number) => string | null;
  readonly delayMs?: number;
} = {}): Promise<JudgeServer> {
  let calls = 0;
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { messages, model } = JSON.parse(Buffer.concat(chunks).toString()) as {
        readonly messages: Messages;
        readonly model: string;
      };
      calls += 1;
      const content = answer(messages, calls);
      await wait(delayMs);
      // Null leaves the caller without an answer.
      if (content === null) return;
      // About four characters are one token.
      const prompt = Math.ceil(JSON.stringify(messages).length / 4);
      const completion = Math.ceil(content.length / 4);
      const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
      const message = { role: 'assistant', content };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          id: `judge-${calls}`,
          object: 'chat.completion',
          created: 1,
          model,
          choices: [{ index: 0, message, finish_reason: 'stop' }],
          usage,
        }),
      );
    })().catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The judge has no port.');
  return {
    base: `http://127.0.0.1:${address.port}/v1`,
    calls: () => calls,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Configuration of a model that calls this server, with a price in USD per token. */
export const judgeModel = (base: string): object => ({
  model_name: 'judge',
  litellm_params: {
    model: 'openai/judge',
    api_base: base,
    api_key: 'k',
    input_cost_per_token: 0.000001,
    output_cost_per_token: 0.000002,
  },
});
