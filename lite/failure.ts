/** Failure of a command. The message is one line of stderr: `Error: <message>`. The exit code is 1. */
export class CommandFailure extends Error {
  override readonly name: string = 'CommandFailure';
}

/** Wrong use of a command: an unknown option, a missing argument, an invalid value. The exit code is 2. */
export class UsageFailure extends Error {
  override readonly name: string = 'UsageFailure';
}

/** Ends a command that has already written its message. */
export class Ended extends Error {
  override readonly name: string = 'Ended';
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** An answer with a status outside of 2xx. `body` is JSON, or the text of a body that is no JSON. */
export class HttpFailure extends Error {
  override readonly name: string = 'HttpFailure';
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    super(`HTTP ${status}${reasonOf(body)}`);
    this.status = status;
    this.body = body;
  }
}

/** Longest reason in a message, in characters. */
const LONGEST_REASON = 500;

/** The message of an error body, as `: message`; empty where the body has none. */
function reasonOf(body: unknown): string {
  const reason = messageOf(body);
  return reason === '' ? '' : `: ${reason.slice(0, LONGEST_REASON)}`;
}

function messageOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(messageOf).filter(Boolean).join('; ');
  if (typeof value !== 'object' || value === null) return '';
  const { error, message, msg, detail } = value as Readonly<Record<string, unknown>>;
  return messageOf(message ?? msg ?? error ?? detail);
}

/** Message of any thrown value. An error with a cause gets the message of the cause, such as a refused connection. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof AggregateError) return cause.errors.map(textOf).join('; ');
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message;
}
