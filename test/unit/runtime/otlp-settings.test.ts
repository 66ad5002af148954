import { describe, expect, it } from 'vitest';
import { otlpOf } from '../../../src/runtime/settings/otlp.ts';
import { SETTINGS, type SettingValues } from '../../../src/runtime/settings/table.ts';
import { faultsFrom, settingsFrom } from '../../support/read-settings.ts';

const DEFAULTS = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, row]) => [name, row.default]),
) as unknown as SettingValues;

describe('limits of exports', () => {
  it('have defaults, also where a variable is empty', () => {
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
    expect(otlpOf(DEFAULTS, 2)).toEqual(defaults);
    const { limits } = settingsFrom({ env: { OTLP_MAX_SPANS: '' } }).otlp;
    expect(limits).toEqual(defaults.limits);
  });

  it('allow larger exports on the event loop thread on a single core', () => {
    expect([1, 2, 8].map((cores) => otlpOf(DEFAULTS, cores).offloadBytes)).toEqual([524_288, 32_768, 32_768]);
    expect(otlpOf({ ...DEFAULTS, offloadBytes: 11 }, 1).offloadBytes).toBe(11);
  });

  it('are read from the environment, one variable for each', () => {
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
    expect(settingsFrom({ env }).otlp).toEqual({
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
    });
  });

  it.each(['0', '-1', '1.5', '1e3', 'many', ' 7', '99999999999'])('are refused with the value "%s"', (value) => {
    expect(faultsFrom({ env: { OTLP_MAX_LINKS: value } })).toEqual([
      `environment: OTLP_MAX_LINKS: "${value}" is not a whole number from 1 to 2147483647`,
    ]);
  });

  it.each(['0', '-1', 'many'])('are refused with "%s" as the size above which a thread decodes an export', (value) => {
    expect(faultsFrom({ env: { OTLP_OFFLOAD_DECODE_BYTES: value } })).toEqual([
      `environment: OTLP_OFFLOAD_DECODE_BYTES: "${value}" is not a whole number from 1 to 2147483647`,
    ]);
  });

  it('allow a nesting of at most 100, the limit of the parsers', () => {
    expect(settingsFrom({ env: { OTLP_MAX_DECODE_DEPTH: '100' } }).otlp.limits.depth).toBe(100);
    expect(faultsFrom({ env: { OTLP_MAX_DECODE_DEPTH: '101' } })).toHaveLength(1);
  });
});
