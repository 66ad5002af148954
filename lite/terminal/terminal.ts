import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';

/** Standard input and output of a command. */
export interface Terminal {
  /** Whether stdin and stdout are terminals. */
  readonly isInteractive: boolean;
  /** Writes a line to stdout. */
  print(line: string): void;
  /** Writes text to stdout, without a line break. */
  write(text: string): void;
  /** Writes a line to stderr. */
  note(line: string): void;
  /** Asks for one line. Null at the end of the input and after Ctrl-C. */
  ask(question: string): Promise<string | null>;
  /** Like `ask`, but the terminal does not show the line. */
  askSecret(question: string): Promise<string | null>;
}

interface Streams {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream;
}

/** Reader of input lines. Lines that arrive before `next` stay in a queue. */
class Lines {
  readonly #queue: string[] = [];
  readonly #interface: Interface;
  #waiting: ((line: string | null) => void) | null = null;
  #isEnded = false;
  isMuted = false;

  constructor({ stdin, stdout }: Streams) {
    const output = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (!this.isMuted) stdout.write(chunk);
        done();
      },
    });
    this.#interface = createInterface({ input: stdin, output, terminal: stdin.isTTY === true });
    this.#interface.on('line', (line) => this.#arrived(line));
    this.#interface.on('SIGINT', () => this.#arrived(null));
    this.#interface.on('close', () => {
      this.#isEnded = true;
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
    if (this.#isEnded) return null;
    const arrived = new Promise<string | null>((resolve) => {
      this.#waiting = resolve;
    });
    this.#interface.setPrompt(question);
    this.#interface.resume();
    this.#interface.prompt();
    const line = await arrived;
    // A paused input does not keep the process alive.
    if (!this.#isEnded) this.#interface.pause();
    return line;
  }

  /** Stops reading. A terminal leaves raw mode, in which Ctrl-C sends no signal. */
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
    // The queue of a pipe may have lines for later questions, so it stays open.
    if (stdin.isTTY === true) {
      lines?.close();
      lines = null;
    }
    return line;
  }

  return {
    isInteractive: stdin.isTTY === true && stdout.isTTY === true,
    print: (line) => void stdout.write(`${line}\n`),
    write: (text) => void stdout.write(text),
    note: (line) => void stderr.write(`${line}\n`),
    ask,
    async askSecret(question) {
      stdout.write(question);
      const open = opened();
      open.isMuted = true;
      try {
        return await ask('');
      } finally {
        open.isMuted = false;
        stdout.write('\n');
      }
    },
  };
}
