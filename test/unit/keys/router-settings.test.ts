import { describe, expect, it } from 'vitest';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { assertRouterSettings, routerSettingsOf } from '../../../src/domain/keys/router-settings.ts';
import type { VirtualKey } from '../../../src/domain/keys/virtual-key.ts';
import { aKey } from '../../support/chat.ts';

type Settings = Readonly<Record<string, unknown>>;

/** A key with router settings, in a team with router settings. */
const keyOf = (own?: Settings, ofTeam?: Settings): VirtualKey =>
  ({
    ...aKey({ settings: own === undefined ? {} : { routerSettings: own } }),
    ...(ofTeam === undefined ? {} : { owners: { team: { routerSettings: ofTeam } } }),
  }) as VirtualKey;

describe('router settings of a key', () => {
  it('take precedence over settings of the team with their names; null sets nothing', () => {
    expect(routerSettingsOf(keyOf())).toBeNull();
    expect(routerSettingsOf(keyOf({ num_retries: null }, {}))).toBeNull();
    const own = { num_retries: 1, routing_strategy: null };
    expect(routerSettingsOf(keyOf(own, { num_retries: 2, routing_strategy: 'least-busy' }))).toEqual({
      num_retries: 1,
      routing_strategy: 'least-busy',
    });
  });

  it('cannot remove a restriction of its team', () => {
    const own = { enable_tag_filtering: false, tag_filtering_match_any: true, enable_pre_call_checks: false };
    const restricted = { enable_tag_filtering: true, tag_filtering_match_any: false, enable_pre_call_checks: true };
    expect(routerSettingsOf(keyOf(own, restricted))).toEqual(restricted);
    expect(routerSettingsOf(keyOf(restricted, own))).toEqual(restricted);
  });

  it('with a wrong value are refused; null and unknown names are not', () => {
    /** Path of the refused setting. */
    const issueOf = (settings: Settings) => {
      try {
        assertRouterSettings(settings);
      } catch (error) {
        return error instanceof InvalidInput ? error.issues[0]?.path.join('.') : error;
      }
    };
    expect(issueOf({ num_retries: 'many' })).toBe('body.router_settings.num_retries');
    expect(issueOf({ routing_strategy: 'fastest' })).toBe('body.router_settings.routing_strategy');
    expect(issueOf({ routing_strategy: null, other: 1, fallbacks: [] })).toBeUndefined();
  });
});
