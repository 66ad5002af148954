import { describe, expect, it } from 'vitest';
import { publicAddress } from '../../../src/domain/deployments/public-address.ts';

describe('the public part of a base address', () => {
  it.each([
    ['https://api.test/v1', 'https://api.test/v1'],
    ['https://user:secret@api.test/v1?key=secret#secret', 'https://api.test/v1'],
    ['https://user:se@cret@api.test/v1', 'https://api.test/v1'],
    ['https://api.test/models/a@1', 'https://api.test/models/a@1'],
    ['https://user:pa?ss@api.test/v1', 'https://api.test/v1'],
    ['https://user:pa#ss@api.test/v1', 'https://api.test/v1'],
    ['https://user:pa/ss@api.test/v1', 'https://api.test/v1'],
  ])('has no credentials, query or fragment: %s becomes %s', (base, expected) => {
    expect(publicAddress(base)).toBe(expected);
  });
});
