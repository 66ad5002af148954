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

/** Ids of the items that the tags of a request select. */
function selected(items: readonly Item[], tags: readonly string[], more: Partial<RequestedTags> = {}): string[] {
  const requested = { tags, userAgent: null, matchesAny: true, ...more };
  return itemsForTags(items, (item) => item, requested).map(({ id }) => id);
}

describe('tags of a request', () => {
  it('select deployments with one of them, or with all of them without matchesAny', () => {
    const items = [FREE, PAID, UNTAGGED];
    expect(selected(items, ['free'])).toEqual(['free']);
    expect(selected(items, ['free', 'paid'])).toEqual(['free', 'paid']);
    expect(selected(items, ['free', 'paid'], { matchesAny: false })).toEqual([]);
    expect(selected(items, ['free', 'eu'], { matchesAny: false })).toEqual(['free']);
  });

  it('that no deployment has select the default deployments, else none', () => {
    expect(selected([FREE, DEFAULT, UNTAGGED], ['other'])).toEqual(['default']);
    expect(selected([FREE, UNTAGGED], ['other'])).toEqual([]);
  });

  it('can be absent: this selects default deployments, or all if there are none', () => {
    expect(selected([FREE, DEFAULT, UNTAGGED], [])).toEqual(['default']);
    expect(selected([FREE, UNTAGGED], [])).toEqual(['free', 'untagged']);
  });

  it('exclude deployments with !', () => {
    expect(selected([FREE, PAID, UNTAGGED], ['!free'])).toEqual(['paid', 'untagged']);
    expect(selected([FREE, PAID], ['eu', '!paid'])).toEqual(['free']);
    expect(selected([FREE, PAID], ['!free', '!paid'])).toEqual([]);
    expect(selected([DEFAULT, UNTAGGED], ['!default'])).toEqual([]);
    expect(selected([FREE, DEFAULT], ['free', '!free'])).toEqual(['default']);
  });

  it('require a tag with &', () => {
    expect(selected([FREE, PAID, UNTAGGED, DEFAULT], ['&eu'])).toEqual(['free', 'paid']);
    expect(selected([FREE, PAID, UNTAGGED], ['&eu', 'paid'])).toEqual(['paid']);
    expect(selected([FREE, DEFAULT], ['&other'])).toEqual([]);
  });

  it('and patterns of the User-Agent select deployments', () => {
    const items = [CODE, DEFAULT];
    expect(selected(items, [], { userAgent: 'code/1.2' })).toEqual(['code']);
    expect(selected(items, [], { userAgent: 'curl/8' })).toEqual(['default']);
    expect(selected(items, [])).toEqual(['default']);
    const strict = { id: 'strict', tags: ['paid'], tagPatterns: [/code/u] };
    expect(selected([strict], ['free'], { userAgent: 'code/1', matchesAny: false })).toEqual([]);
    expect(selected([strict], ['free'], { userAgent: 'code/1' })).toEqual(['strict']);
  });

  it('! and & without a name select nothing', () => {
    expect(selected([FREE, UNTAGGED], ['!', '&'])).toEqual(['free', 'untagged']);
  });
});
