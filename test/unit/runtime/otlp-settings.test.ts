import { describe, expect, it } from 'vitest';
import type { ConfigFault } from '../../../src/runtime/settings/config-file.ts';
import { readOtlp } from '../../../src/runtime/settings/otlp.ts';

function read(env: Record<string, string>, cores = 2) {
  const faults: ConfigFault[] = [];
  return { settings: readOtlp(env, (fault) => faults.push(fault), cores), faults };
}

describe('what exports may ask', () => {
  it('is what the contract says where nothing is set', () => {
    const defaults = {
      limits: {
        bodyBytes: 16_777_216,
        depth: 32,
        nodes: 65_536,
        spans: 4_096,
        attributes: 256,
        events: 256,
        links: 256,
        decodedBytes: 16_777_216,
        valueBytes: 65_536,
      },
      concurrentIngests: 2,
      offloadBytes: 32_768,
    };
    expect(read({})).toEqual({ settings: defaults, faults: [] });
    expect(read({ OTLP_MAX_SPANS: '' })).toEqual({ settings: defaults, faults: [] });
  });

  it('reads larger exports without a thread where that would have no core of its own', () => {
    const offloadBytes = (env: Record<string, string>, cores: number): number => read(env, cores).settings.offloadBytes;
    expect([1, 2, 8].map((cores) => offloadBytes({}, cores))).toEqual([524_288, 32_768, 32_768]);
    expect(offloadBytes({ OTLP_OFFLOAD_DECODE_BYTES: '11' }, 1)).toBe(11);
  });

  it('is set by a variable each', () => {
    const env = {
      OTLP_MAX_BODY_BYTES: '1',
      OTLP_MAX_DECODE_DEPTH: '2',
      OTLP_MAX_DECODE_NODES: '3',
      OTLP_MAX_SPANS: '4',
      OTLP_MAX_ATTRIBUTES: '5',
      OTLP_MAX_EVENTS: '6',
      OTLP_MAX_LINKS: '7',
      OTLP_MAX_DECODED_SPAN_BYTES: '8',
      OTLP_MAX_ATTRIBUTE_VALUE_BYTES: '9',
      OTLP_MAX_CONCURRENT_INGESTS: '10',
      OTLP_OFFLOAD_DECODE_BYTES: '11',
    };
    expect(read(env)).toEqual({
      settings: {
        limits: {
          bodyBytes: 1,
          depth: 2,
          nodes: 3,
          spans: 4,
          attributes: 5,
          events: 6,
          links: 7,
          decodedBytes: 8,
          valueBytes: 9,
        },
        concurrentIngests: 10,
        offloadBytes: 11,
      },
      faults: [],
    });
  });

  it.each(['0', '-1', '1.5', '1e3', 'many', ' 7', '99999999999'])('is not "%s"', (value) => {
    expect(read({ OTLP_MAX_LINKS: value }).faults).toEqual([
      {
        source: 'environment',
        line: null,
        key: 'OTLP_MAX_LINKS',
        message: `"${value}" is not a whole number from 1 to 2147483647`,
      },
    ]);
  });

  it.each(['0', '-1', 'many'])('is read here up to no size of "%s"', (value) => {
    expect(read({ OTLP_OFFLOAD_DECODE_BYTES: value }).faults).toEqual([
      {
        source: 'environment',
        line: null,
        key: 'OTLP_OFFLOAD_DECODE_BYTES',
        message: `"${value}" is not a whole number from 1 to 2147483647`,
      },
    ]);
  });

  it('is no nesting deeper than the parsers go', () => {
    expect(read({ OTLP_MAX_DECODE_DEPTH: '100' }).faults).toEqual([]);
    expect(read({ OTLP_MAX_DECODE_DEPTH: '101' }).faults).toHaveLength(1);
  });
});
