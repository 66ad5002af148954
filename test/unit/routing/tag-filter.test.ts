import { describe, expect, it } from 'vitest';
import { itemsForTags, type RequestedTags } from '../../../src/domain/routing/tag-filter.ts';

interface Item {
  readonly id: string;
  readonly tags?: readonly string[];
  readonly tagPatterns?: readonly RegExp[];
}

const FREE = { id: 'free', tags: ['free', 'eu'] };
const PAID = { id: 'paid', tags: ['paid', 'eu'] };
const DEFAULT = { id: 'default', tags: ['default'] };
const UNTAGGED = { id: 'untagged' };
const CODE = { id: 'code', tagPatterns: [/^User-Agent: code\//u] };

function allowed(items: readonly Item[], tags: readonly string[], more: Partial<RequestedTags> = {}): string[] {
  const requested = { tags, userAgent: null, matchesAny: true, ...more };
  return itemsForTags(items, (item) => item, requested).map(({ id }) => id);
}

describe('tags of a request', () => {
  it('select deployments with any of them, or with all of them', () => {
    const items = [FREE, PAID, UNTAGGED];
    expect(allowed(items, ['free'])).toEqual(['free']);
    expect(allowed(items, ['free', 'paid'])).toEqual(['free', 'paid']);
    expect(allowed(items, ['free', 'paid'], { matchesAny: false })).toEqual([]);
    expect(allowed(items, ['free', 'eu'], { matchesAny: false })).toEqual(['free']);
  });

  it('that match nothing select the default deployments, else none', () => {
    expect(allowed([FREE, DEFAULT, UNTAGGED], ['other'])).toEqual(['default']);
    expect(allowed([FREE, UNTAGGED], ['other'])).toEqual([]);
  });

  it('are not needed for default deployments; without these, every deployment is allowed', () => {
    expect(allowed([FREE, DEFAULT, UNTAGGED], [])).toEqual(['default']);
    expect(allowed([FREE, UNTAGGED], [])).toEqual(['free', 'untagged']);
  });

  it('exclude with ! from every result', () => {
    expect(allowed([FREE, PAID, UNTAGGED], ['!free'])).toEqual(['paid', 'untagged']);
    expect(allowed([FREE, PAID], ['eu', '!paid'])).toEqual(['free']);
    expect(allowed([FREE, PAID], ['!free', '!paid'])).toEqual([]);
    expect(allowed([DEFAULT, UNTAGGED], ['!default'])).toEqual([]);
    expect(allowed([FREE, DEFAULT], ['free', '!free'])).toEqual(['default']);
  });

  it('require with &', () => {
    expect(allowed([FREE, PAID, UNTAGGED, DEFAULT], ['&eu'])).toEqual(['free', 'paid']);
    expect(allowed([FREE, PAID, UNTAGGED], ['&eu', 'paid'])).toEqual(['paid']);
    expect(allowed([FREE, DEFAULT], ['&other'])).toEqual([]);
  });

  it('are beside patterns of the User-Agent', () => {
    const items = [CODE, DEFAULT];
    expect(allowed(items, [], { userAgent: 'code/1.2' })).toEqual(['code']);
    expect(allowed(items, [], { userAgent: 'curl/8' })).toEqual(['default']);
    expect(allowed(items, [])).toEqual(['default']);
    const strict = { id: 'strict', tags: ['paid'], tagPatterns: [/code/u] };
    expect(allowed([strict], ['free'], { userAgent: 'code/1', matchesAny: false })).toEqual([]);
    expect(allowed([strict], ['free'], { userAgent: 'code/1' })).toEqual(['strict']);
  });

  it('! and & alone are plain tags of no deployment', () => {
    expect(allowed([FREE, UNTAGGED], ['!', '&'])).toEqual(['free', 'untagged']);
  });
});
