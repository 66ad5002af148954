import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { UsageFailure } from '../failure.ts';
import type { Request } from '../server/client.ts';
import { parseJson, type Values } from '../values.ts';
import { printAnswer } from './print-answer.ts';

/** Deadline of a request, in ms. A model may answer slowly. */
const REQUEST_MS = 600_000;

/** Parses headers of the form `name:value`. Throws UsageFailure without the value, which may be a secret. */
function headersOf(lines: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':');
      const [name, value] = [line.slice(0, at).trim(), line.slice(at + 1).trim()];
      if (at < 1 || !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\u0020-\u007e\u0080-\u00ff]/.test(value))
        throw new UsageFailure(
          `Invalid value: Invalid header format: ${at < 1 ? '' : name}. Expected format: 'key:value'`,
        );
      return [name.toLowerCase(), value];
    }),
  );
}

/** Body of `--json` or `--data`. Throws UsageFailure. */
function bodyOf(method: string, values: Values): Pick<Request, 'json' | 'text'> {
  const [json, data] = [values.text('json'), values.text('data')];
  if (['GET', 'HEAD'].includes(method) && (json !== null || data !== null))
    throw new UsageFailure(`A ${method} request has no body: pass neither --data nor --json`);
  if (json !== null && data !== null) throw new UsageFailure('Pass only one of --data and --json');
  if (json !== null) return { json: parseJson(json) };
  return data === null ? {} : { text: data };
}

async function sendRequest(context: Context, values: Values): Promise<void> {
  const [method, path] = [values.operand(0).toUpperCase(), values.operand(1)];
  if (!/^[A-Z]+$/.test(method) || ['CONNECT', 'TRACE', 'TRACK'].includes(method))
    throw new UsageFailure(`Invalid value for 'METHOD': '${values.operand(0)}'`);
  // The request has the key of this server, which no other server may get.
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(path))
    throw new UsageFailure("Invalid value for 'URI': it is a path of the server. Select the server with --base-url.");
  const body = bodyOf(method, values);
  const headers = headersOf(values.texts('header'));
  await printAnswer(context, method, path, { ...body, headers, deadlineMs: REQUEST_MS });
}

export const httpCommands: readonly Command[] = [
  {
    names: ['http', 'request'],
    summary: 'Send a request to a path of the server, with your key',
    operands: ['method', 'uri'],
    options: {
      data: { type: 'string', short: 'd', help: 'Body, sent unchanged' },
      json: { type: 'string', short: 'j', help: 'Body, checked to be JSON' },
      header: { type: 'string', short: 'H', multiple: true, help: 'Header as name:value, may be repeated' },
    },
    run: sendRequest,
  },
];
