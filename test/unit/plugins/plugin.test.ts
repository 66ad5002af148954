import { describe, expect, it } from 'vitest';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { checkedPlugin, type PluginDraft, type SourceDraft } from '../../../src/domain/plugins/plugin.ts';

const NO_SOURCE = { repo: null, url: null, path: null, ref: null, sha: null } as const;
const GITHUB: SourceDraft = { ...NO_SOURCE, source: 'github', repo: 'org/my-plugin' };
const URL_SOURCE: SourceDraft = { ...NO_SOURCE, source: 'url', url: 'https://git.test/a/b.git' };
const FOLDER: SourceDraft = { ...URL_SOURCE, source: 'git-subdir', path: 'plugins/one' };

const aDraft = (overrides: Partial<PluginDraft> = {}): PluginDraft => ({
  name: 'my-plugin',
  source: GITHUB,
  version: null,
  description: null,
  author: null,
  homepage: null,
  keywords: [],
  category: null,
  domain: null,
  namespace: null,
  ...overrides,
});

const faultOf = (overrides: Partial<PluginDraft>): string => {
  try {
    checkedPlugin(aDraft(overrides));
  } catch (error) {
    if (error instanceof InvalidInput) return error.message;
    throw error;
  }
  return '';
};
const sourceOf = (source: SourceDraft) => checkedPlugin(aDraft({ source })).source;

const SHA = '0123456789abcdef0123456789abcdef01234567';

describe('a source', () => {
  it('has the members of its kind only, and a commit where one is named', () => {
    expect(sourceOf(GITHUB)).toEqual({ source: 'github', repo: 'org/my-plugin' });
    expect(sourceOf({ ...URL_SOURCE, ref: 'v1.2/x', sha: SHA, path: ' ' })).toEqual({
      source: 'url',
      url: 'https://git.test/a/b.git',
      ref: 'v1.2/x',
      sha: SHA,
    });
    expect(sourceOf(FOLDER)).toEqual({ source: 'git-subdir', url: 'https://git.test/a/b.git', path: 'plugins/one' });
  });

  it.each([
    [{ ...GITHUB, path: 'a' }, "source.path is not a member of a source 'github'"],
    [{ ...URL_SOURCE, repo: 'a/b' }, "source.repo is not a member of a source 'url'"],
    [{ ...FOLDER, repo: 'a/b' }, "source.repo is not a member of a source 'git-subdir'"],
    [{ ...GITHUB, repo: null }, 'source.repo must not be empty'],
    [{ ...URL_SOURCE, url: '' }, 'source.url must not be empty'],
    [{ ...FOLDER, path: null }, 'source.path must not be empty'],
  ])('is refused for wrong members: %j', (source, fault) => {
    expect(faultOf({ source })).toBe(fault);
  });

  it.each(['org/x', 'Org-1/x.y_z', 'org_user/.github'])('is the repository %s on GitHub', (repo) => {
    expect(sourceOf({ ...GITHUB, repo })).toEqual({ source: 'github', repo });
  });

  it.each(['x', 'org/', '/x', 'org/a/b', 'org/..', 'org/.', '../x', '-o/x', 'org/x y', 'https://github.com/o/x'])(
    'is not the repository %s on GitHub',
    (repo) => {
      expect(faultOf({ source: { ...GITHUB, repo } })).toBe(
        'source.repo must be owner/repository, such as org/my-plugin',
      );
    },
  );

  it.each([
    'https://git.test/a.git',
    'https://git.test:8443/a',
    'https://[2001:db8::1]/a.git',
    'http://localhost:3000/a.git',
    'http://127.0.0.1/a.git',
    'http://127.1.2.3/a.git',
    'http://[::1]/a.git',
  ])('is at %s', (url) => {
    expect(sourceOf({ ...URL_SOURCE, url })).toEqual({ source: 'url', url });
  });

  it.each([
    'http://git.test/a.git',
    'http://localhost.test/a.git',
    'http://127.0.0.1.test/a.git',
    'https://user:password@git.test/a.git',
    'https://token@git.test/a.git',
    'https://@git.test/a.git',
    'https://git.test\\@evil.test/a.git',
    'https:\\\\git.test/a.git',
    'https:git.test/a.git',
    'https:///a.git',
    'https://git .test/a',
    'https://git.test/é',
    'HTTPS://git.test/a.git',
    'ssh://git@git.test/a.git',
    'git@git.test:a.git',
    'file:///etc',
    '--upload-pack=x',
    'javascript:alert(1)',
  ])('is not at %s', (url) => {
    const fault = 'must be an https:// address without user name and password; http:// is for loopback addresses only';
    expect(faultOf({ source: { ...URL_SOURCE, url } })).toBe(`source.url ${fault}`);
    expect(faultOf({ homepage: url })).toBe(`homepage ${fault}`);
  });

  it.each(['https://git.test/a.git?private_token=x', 'https://git.test/a.git#x'])('has no token in %s', (url) => {
    expect(faultOf({ source: { ...FOLDER, url } })).toBe('source.url must have no query and no fragment');
    expect(checkedPlugin(aDraft({ homepage: url })).homepage).toBe(url);
  });

  it.each(['a', './a', 'a/b.c', 'my plugins/a@b', 'größe/x', '.'])('is the folder %s', (path) => {
    expect(sourceOf({ ...FOLDER, path })).toMatchObject({ path });
  });

  it.each(['/a', '../a', 'a/../b', 'a/..', '..', 'a//b', 'a/', '-a', 'a\\b', 'C:a', 'a*', '~$x'])(
    'is not the folder %s',
    (path) => {
      expect(faultOf({ source: { ...FOLDER, path } })).toBe(
        'source.path must be a relative path inside the repository, such as plugins/my-plugin',
      );
    },
  );

  it.each(['-x', '--exec', 'a..b', '/a', 'a b', 'a:b'])('has no ref %s', (ref) => {
    expect(faultOf({ source: { ...GITHUB, ref } })).toBe('source.ref must be the name of a branch or tag');
  });

  it.each([SHA.slice(1), `${SHA}0`, SHA.replace('0', 'g')])('has no sha %s', (sha) => {
    expect(faultOf({ source: { ...GITHUB, sha } })).toBe('source.sha must be a commit: 40 hex digits');
  });
});

describe('a plugin', () => {
  it('has the texts that were sent; blank ones are absent', () => {
    const full = aDraft({
      version: '1.0.0',
      description: 'a\nb\tc',
      author: { name: 'A', email: 'a@b.test' },
      homepage: 'https://h.test/?a=b',
      keywords: ['k'],
      category: 'c',
      domain: 'd',
      namespace: 'n',
    });
    expect(checkedPlugin(full)).toEqual({ ...full, source: { source: 'github', repo: 'org/my-plugin' } });
    const blank = { version: '', description: ' ', homepage: '', category: '', domain: '', namespace: '' };
    expect(checkedPlugin(aDraft({ ...blank, author: { name: 'A', email: '' } }))).toMatchObject({
      version: null,
      description: null,
      homepage: null,
      category: null,
      domain: null,
      namespace: null,
      author: { name: 'A', email: null },
    });
  });

  it.each(['a', 'a1', '1-a', 'a'.repeat(64)])('may have the name %s', (name) => {
    expect(checkedPlugin(aDraft({ name })).name).toBe(name);
  });

  it.each(['', 'A', 'a_b', 'a b', '-a', 'a-', 'a--b', 'a.b', '../a', 'é', 'a\n', 'a'.repeat(65)])(
    'may not have the name %j',
    (name) => {
      expect(faultOf({ name })).toBe(
        'name must be kebab-case, such as my-plugin: lower-case letters, digits and hyphens, at most 64 characters',
      );
    },
  );

  it.each([
    ['version', 64],
    ['description', 4_000],
    ['category', 64],
    ['domain', 256],
    ['namespace', 256],
  ] as const)('has a %s of at most %i characters', (member, max) => {
    expect(faultOf({ [member]: 'x'.repeat(max) })).toBe('');
    expect(faultOf({ [member]: 'x'.repeat(max + 1) })).toBe(`${member} must have at most ${max} characters`);
    for (const unwanted of ['\0', '\u001B[2J', '\uD800'])
      expect(faultOf({ [member]: `x${unwanted}` })).toBe(
        `${member} must have no control character and no unpaired surrogate`,
      );
  });

  it('has addresses of at most 2,048 characters, and other bounded members', () => {
    const url = (length: number): string => `https://h.test/${'x'.repeat(length - 15)}`;
    expect(faultOf({ homepage: url(2_048) })).toBe('');
    expect(faultOf({ homepage: url(2_049) })).toBe('homepage must have at most 2048 characters');
    expect(faultOf({ source: { ...URL_SOURCE, url: url(2_049) } })).toBe(
      'source.url must have at most 2048 characters',
    );
    expect(faultOf({ source: { ...FOLDER, path: 'x'.repeat(513) } })).toBe(
      'source.path must have at most 512 characters',
    );
    expect(faultOf({ keywords: Array.from({ length: 50 }, () => 'k'.repeat(64)) })).toBe('');
    expect(faultOf({ keywords: Array.from({ length: 51 }, () => 'k') })).toBe('keywords must have at most 50 texts');
    expect(faultOf({ keywords: ['k'.repeat(65)] })).toBe('keywords must have at most 64 characters');
    expect(faultOf({ keywords: [' '] })).toBe('keywords must not be empty');
    expect(faultOf({ author: { name: ' ', email: null } })).toBe('author.name must not be empty');
    expect(faultOf({ author: { name: 'x'.repeat(257), email: null } })).toBe(
      'author.name must have at most 256 characters',
    );
    expect(faultOf({ author: { name: 'A', email: 'nobody' } })).toBe('author.email must be an address');
    expect(faultOf({ author: { name: 'A', email: `${'x'.repeat(320)}@b` } })).toBe(
      'author.email must have at most 320 characters',
    );
  });
});
