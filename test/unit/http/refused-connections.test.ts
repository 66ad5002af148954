import { afterEach, expect, it, vi } from 'vitest';
import { refusedConnectionLog } from '../../../src/http/failure-log.ts';

afterEach(() => vi.useRealTimers());

it('refused connections are logged once a second for each reason, with the number of omitted warnings', () => {
  vi.useFakeTimers();
  const lines: unknown[] = [];
  const line = (facts: object, event: string): void => void lines.push([facts, event]);
  const refused = refusedConnectionLog({ debug: line, info: line, warn: line, error: line });
  for (let attempt = 0; attempt < 50; attempt += 1) refused('network', '192.0.2.1');
  refused('total', null);
  vi.advanceTimersByTime(1_000);
  refused('network', '192.0.2.2');
  const event = 'a connection was refused: max_connections';
  expect(lines).toEqual([
    [{ reason: 'network', network: '192.0.2.1' }, event],
    [{ reason: 'total', network: null }, event],
    [{ kind: 'network', leftOut: 49 }, `${event} (further warnings omitted)`],
    [{ reason: 'network', network: '192.0.2.2' }, event],
  ]);
});
