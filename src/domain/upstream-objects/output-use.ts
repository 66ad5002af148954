import type { ByteStream } from '../bytes.ts';
import { addUsage, countOf, fieldsOf, type ModelUse } from './batch-use.ts';

/** Most characters of one line. */
const MOST_LINE = 16 * 1024 * 1024;

/**
 * Usage of a batch by model, read from its output stream. Null when a successful line has no usage. Rejects with the
 * stream's error.
 */
export function outputUseOf(output: ByteStream): Promise<readonly ModelUse[] | null> {
  return new Promise((resolve, reject) => {
    const sums = new Map<string | null, ModelUse>();
    const decoder = new TextDecoder();
    let rest = '';

    function giveUp(): false {
      output.cancel();
      resolve(null);
      return false;
    }

    output.pipe({
      chunk(bytes) {
        const text = rest + decoder.decode(bytes, { stream: true });
        const lines = text.split('\n');
        rest = lines.pop() ?? '';
        if (rest.length > MOST_LINE) return giveUp();
        return lines.every((line) => addLine(line, sums)) || giveUp();
      },
      done() {
        resolve(addLine(rest + decoder.decode(), sums) ? [...sums.values()] : null);
      },
      fail: reject,
    });
  });
}

/** Adds the usage of one line; false where it has none. A failed call has no usage. */
function addLine(line: string, sums: Map<string | null, ModelUse>): boolean {
  if (line.trim() === '') return true;
  const { response } = fieldsOf(parsed(line));
  const { status_code: status, body } = fieldsOf(response);
  if (response === null || (typeof status === 'number' && status >= 400)) return true;
  const { model, usage } = fieldsOf(body);
  const used = usageOf(usage);
  if (used === null) return false;
  const name = typeof model === 'string' && model !== '' ? model : null;
  const sum = sums.get(name)?.usage;
  sums.set(name, { model: name, usage: sum === undefined ? used : addUsage(sum, used) });
  return true;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Usage of one answer, in the format of chats, completions and embeddings or of responses. */
function usageOf(value: unknown): ModelUse['usage'] | null {
  const usage = fieldsOf(value);
  const inputTokens = countOf(usage['prompt_tokens']) ?? countOf(usage['input_tokens']);
  const outputTokens = countOf(usage['completion_tokens']) ?? countOf(usage['output_tokens']);
  if (inputTokens === null && outputTokens === null) return null;
  const input = fieldsOf(usage['prompt_tokens_details'] ?? usage['input_tokens_details']);
  const output = fieldsOf(usage['completion_tokens_details'] ?? usage['output_tokens_details']);
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens: countOf(input['cached_tokens']) ?? 0,
    cacheWriteTokens: 0,
    reasoningTokens: countOf(output['reasoning_tokens']) ?? 0,
  };
}
