import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { UsageFailure } from '../failure.ts';
import { jsonText } from '../terminal/table.ts';
import { parseJson, type Values } from '../values.ts';

/** Deadline of a request, in ms. A model may answer slowly. */
const REQUEST_MS = 600_000;

/** Headers of the form `name:value`. Throws UsageFailure, without the value, which may be a secret. */
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

async function request(context: Context, values: Values): Promise<void> {
  const [method, path] = [values.operand(0).toUpperCase(), values.operand(1)];
  if (!/^[A-Z]+$/.test(method) || ['CONNECT', 'TRACE', 'TRACK'].includes(method))
    throw new UsageFailure(`Invalid value for 'METHOD': '${values.operand(0)}'`);
  // The key belongs to this server only.
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(path))
    throw new UsageFailure("Invalid value for 'URI': it is a path of the server. Select the server with --base-url.");
  const [json, data] = [values.text('json'), values.text('data')];
  if (['GET', 'HEAD'].includes(method) && (json !== null || data !== null))
    throw new UsageFailure(`A ${method} request has no body: pass neither --data nor --json`);
  if (json !== null && data !== null) throw new UsageFailure('Pass only one of --data and --json');
  const body = json === null ? (data === null ? {} : { text: data }) : { json: parseJson(json) };
  const headers = headersOf(values.texts('header'));
  const answer = await (await context.client()).send(method, path, { ...body, headers, deadlineMs: REQUEST_MS });
  context.host.terminal.print(jsonText(answer));
}

export const httpCommands: readonly Command[] = [
  {
    names: ['http', 'request'],
    summary: 'Send a request to a path of the server, with your key',
    operands: ['method', 'uri'],
    options: {
      data: { type: 'string', short: 'd', help: 'Body as it is' },
      json: { type: 'string', short: 'j', help: 'Body as JSON' },
      header: { type: 'string', short: 'H', multiple: true, help: 'Header as name:value, may be repeated' },
    },
    run: request,
  },
];
