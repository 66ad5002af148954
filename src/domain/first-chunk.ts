import type { ByteSink, ByteStream } from './bytes.ts';

/**
 * Waits for the first chunk or the end of `source`, then resolves to a stream with the whole content. A failure before
 * the first chunk rejects, so that the caller can still send a status. A later failure fails the stream. Chunks that
 * arrive before `pipe` are buffered, and the source is paused.
 */
export function afterFirstChunk(source: ByteStream): Promise<ByteStream> {
  return new Promise((resolve, reject) => {
    let sink: ByteSink | null = null;
    const buffered: Uint8Array[] = [];
    let ended: { readonly error: Error | null } | null = null;
    const finish = (reader: ByteSink, error: Error | null): void => {
      if (error === null) reader.done();
      else reader.fail(error);
    };
    const stream: ByteStream = {
      pipe(reader) {
        sink = reader;
        let wantsMore = true;
        for (const bytes of buffered) if (!reader.chunk(bytes)) wantsMore = false;
        if (ended !== null) finish(reader, ended.error);
        else if (wantsMore) source.resume();
      },
      resume: () => source.resume(),
      cancel: () => source.cancel(),
    };
    const end = (error: Error | null): void => {
      if (sink !== null) return finish(sink, error);
      if (error !== null && buffered.length === 0) return reject(error);
      ended = { error };
      resolve(stream);
    };
    source.pipe({
      chunk(bytes) {
        if (sink !== null) return sink.chunk(bytes);
        buffered.push(bytes);
        resolve(stream);
        return false;
      },
      done: () => end(null),
      fail: end,
    });
  });
}
