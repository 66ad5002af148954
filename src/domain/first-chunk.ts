import type { ByteSink, ByteStream } from './bytes.ts';

/**
 * The same stream, once its first bytes or its end have come. A failure up to then rejects, when an answer can still
 * say so; a later one fails the stream. What came before the reader is held, and the source paused.
 */
export function begun(source: ByteStream): Promise<ByteStream> {
  return new Promise((resolve, reject) => {
    let sink: ByteSink | null = null;
    const held: Uint8Array[] = [];
    let ended: { readonly error: Error | null } | null = null;
    const finish = (reader: ByteSink, error: Error | null): void => {
      if (error === null) reader.done();
      else reader.fail(error);
    };
    const stream: ByteStream = {
      pipe(reader) {
        sink = reader;
        const wants = held.map((bytes) => reader.chunk(bytes));
        if (ended !== null) finish(reader, ended.error);
        else if (!wants.includes(false)) source.resume();
      },
      resume: () => source.resume(),
      cancel: () => source.cancel(),
    };
    const end = (error: Error | null): void => {
      if (sink !== null) return finish(sink, error);
      if (error !== null && held.length === 0) return reject(error);
      ended = { error };
      resolve(stream);
    };
    source.pipe({
      chunk(bytes) {
        if (sink !== null) return sink.chunk(bytes);
        held.push(bytes);
        resolve(stream);
        return false;
      },
      done: () => end(null),
      fail: end,
    });
  });
}
