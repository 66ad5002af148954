import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';

/** Standard input and output of a command. */
export interface Terminal {
  /** Whether a person reads stdout and types on stdin. */
  readonly interactive: boolean;
  /** Writes a line to stdout. */
  print(line: string): void;
  /** Writes text to stdout as it is. */
  write(text: string): void;
  /** Writes a line to stderr. */
  note(line: string): void;
  /** Asks for one line. Null at the end of the input, and after Ctrl-C. */
  ask(question: string): Promise<string | null>;
  /** Asks for one line that the terminal does not show. Null as for `ask`. */
  askSecret(question: string): Promise<string | null>;
}

/** Streams of a process. */
interface Streams {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream;
}

/** Lines of the input. Lines that arrive before they are asked for stay in a queue. */
class Lines {
  readonly #queue: string[] = [];
  readonly #interface: Interface;
  #waiting: ((line: string | null) => void) | null = null;
  #ended = false;
  muted = false;

  constructor({ stdin, stdout }: Streams) {
    const output = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (!this.muted) stdout.write(chunk);
        done();
      },
    });
    this.#interface = createInterface({ input: stdin, output, terminal: stdin.isTTY === true });
    this.#interface.on('line', (line) => this.#arrived(line));
    this.#interface.on('SIGINT', () => this.#arrived(null));
    this.#interface.on('close', () => {
      this.#ended = true;
      this.#arrived(null);
    });
  }

  #arrived(line: string | null): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting !== null) waiting(line);
    else if (line !== null) this.#queue.push(line);
  }

  async next(question: string): Promise<string | null> {
    const queued = this.#queue.shift();
    if (queued !== undefined) return queued;
    if (this.#ended) return null;
    const arrived = new Promise<string | null>((resolve) => {
      this.#waiting = resolve;
    });
    this.#interface.setPrompt(question);
    this.#interface.resume();
    this.#interface.prompt();
    const line = await arrived;
    // A paused input keeps no process alive.
    if (!this.#ended) this.#interface.pause();
    return line;
  }

  /** Ends the reading. A terminal leaves its raw mode, in which Ctrl-C is no signal. */
  close(): void {
    this.#interface.close();
  }
}

export function createTerminal(streams: Streams): Terminal {
  const { stdin, stdout, stderr } = streams;
  let lines: Lines | null = null;
  const opened = (): Lines => (lines ??= new Lines(streams));

  async function ask(question: string): Promise<string | null> {
    const line = await opened().next(question);
    // Only a pipe may have sent lines for later questions.
    if (stdin.isTTY === true) {
      lines?.close();
      lines = null;
    }
    return line;
  }

  return {
    interactive: stdin.isTTY === true && stdout.isTTY === true,
    print: (line) => void stdout.write(`${line}\n`),
    write: (text) => void stdout.write(text),
    note: (line) => void stderr.write(`${line}\n`),
    ask,
    async askSecret(question) {
      stdout.write(question);
      const open = opened();
      open.muted = true;
      try {
        return await ask('');
      } finally {
        open.muted = false;
        stdout.write('\n');
      }
    },
  };
}
