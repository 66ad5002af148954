import type { Complete, Path, Run } from './completion.ts';
import { Unplanned } from './unplanned.ts';

type Place = Record<string | number, unknown>;

/** Sets a member when its value resolves. It is null until then, so that the order of names stays. */
export function placed(value: Promise<unknown>, data: Place, key: string | number): Promise<void> {
  data[key] = null;
  return value.then((settled) => {
    data[key] = settled;
  });
}

/** After a failure nothing awaits the others: their rejections must not be unhandled. */
export function leave(pending: readonly Promise<void>[] | null): void {
  for (const settled of pending ?? []) settled.catch(() => {});
}

/** Completes the items of a list or stream. */
export function listOf(item: Complete, withPaths: boolean): Complete {
  const completed = (value: unknown, run: Run, path: Path): unknown =>
    value instanceof Promise ? value.then((settled: unknown) => item(settled, run, path)) : item(value, run, path);
  const place = (path: Path, key: number): Path => (withPaths ? { prev: path, key, typename: undefined } : path);
  async function ofStream(values: AsyncIterable<unknown>, run: Run, path: Path): Promise<readonly unknown[]> {
    const items: unknown[] = [];
    for await (const value of values) items.push(await completed(value, run, place(path, items.length)));
    return items;
  }
  return (values, run, path) => {
    if (!Array.isArray(values)) {
      if (typeof values === 'object' && values !== null && Symbol.asyncIterator in values)
        return ofStream(values as AsyncIterable<unknown>, run, path);
      throw new Unplanned();
    }
    const items: unknown[] = [];
    let pending: Promise<void>[] | null = null;
    try {
      for (let at = 0; at < values.length; at += 1) {
        const value = completed(values[at], run, place(path, at));
        if (value instanceof Promise) (pending ??= []).push(placed(value, items as unknown as Place, at));
        else items.push(value);
      }
    } catch (error) {
      leave(pending);
      throw error;
    }
    return pending === null ? items : Promise.all(pending).then(() => items);
  };
}
