// A fake upstream for bench/call-kinds.ts. At paths that end in /decisions it answers ten questions, elsewhere it
// answers with a chat completion.
//   node bench/call-kinds-upstream.ts PORT
import { createServer } from 'node:http';

const PORT = Number(process.argv[2]);
const usage = { prompt_tokens: 420, completion_tokens: 150, total_tokens: 570 };
const CHAT = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_760_000_000,
    model: 'bench-model',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'alpha beta '.repeat(75).trim() }, finish_reason: 'stop' },
    ],
    usage,
  }),
);
const DECISION = Buffer.from(
  JSON.stringify({
    model: 'bench-decider',
    answers: Array.from({ length: 10 }, (_unused, index) => ({
      type: 'predicate',
      name: `question_${index}`,
      probability: 0.5 + index / 25,
    })),
    usage: {
      input_tokens: 420,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 430,
    },
  }),
);

createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    const body = request.url?.endsWith('/decisions') === true ? DECISION : CHAT;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
}).listen(PORT, '127.0.0.1');
