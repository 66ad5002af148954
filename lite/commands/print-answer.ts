import type { Context } from '../context.ts';
import type { Request } from '../server/client.ts';
import { jsonText } from '../terminal/table.ts';

/** Sends a request and prints the answer as JSON. */
export async function printAnswer(
  context: Context,
  method: string,
  path: string,
  request: Request = {},
): Promise<void> {
  const answer = await context.send(method, path, request);
  context.host.terminal.print(jsonText(answer));
}
