import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createClientNetworks, proxyFault, trustsEveryone } from '../../../src/runtime/network/client-network.ts';

const PROXY = '10.0.0.1';
const withProxies = createClientNetworks(['10.0.0.0/8', 'fd00::/8', '::ffff:192.0.2.0/120']);
const withoutProxies = createClientNetworks([]);
/** Client network of a request whose `X-Forwarded-For` comes from a trusted proxy. */
const behindProxy = (forwardedFor: string): string => withProxies(PROXY, forwardedFor);

describe('a peer', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:CB00:7107', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['::1', '::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
  ])('%s is counted as %s', (peer, network) => {
    // The second result is from the cache of parsed addresses.
    expect([withoutProxies(peer, undefined), withoutProxies(peer, undefined)]).toEqual([network, network]);
  });

  it('without an address is counted as `unknown`', () => {
    expect([withoutProxies(undefined, undefined), withoutProxies('a pipe', undefined)]).toEqual(['unknown', 'unknown']);
  });

  it('shares its count with its own /64 only', () => {
    expect(withoutProxies('2001:db8:1:2::1', undefined)).toBe(withoutProxies('2001:db8:1:2:ffff::9', undefined));
    expect(withoutProxies('2001:db8:1:3::1', undefined)).not.toBe(withoutProxies('2001:db8:1:2::1', undefined));
  });
});

describe('X-Forwarded-For', () => {
  it.each(['1.2.3.4', '10.0.0.9', 'rubbish', ''])('is ignored from an untrusted peer: %j', (forwardedFor) => {
    expect([withoutProxies(PROXY, forwardedFor), withProxies('203.0.113.7', forwardedFor)]).toEqual([
      PROXY,
      '203.0.113.7',
    ]);
  });

  it.each([
    ['one entry', '198.51.100.4', '198.51.100.4'],
    ['surrounding spaces', '  198.51.100.4\t', '198.51.100.4'],
    ['a port', '198.51.100.4:51234', '198.51.100.4'],
    ['brackets', '[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
    ['brackets and a port', '[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
    ['bare IPv6', '2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['a zone', 'fe80::1%eth0', 'fe80::/64'],
    ['a zone in brackets', '[fe80::1%25eth0]:1', 'fe80::/64'],
    ['IPv4 inside IPv6', '::ffff:198.51.100.4', '198.51.100.4'],
    ['IPv4 inside IPv6 in brackets', '[::ffff:198.51.100.4]:80', '198.51.100.4'],
  ])('is read with %s', (_what, forwardedFor, network) => {
    expect(behindProxy(forwardedFor)).toBe(network);
  });

  it.each([
    ['an entry of the client', '1.1.1.1, 198.51.100.4', '198.51.100.4'],
    ['a trusted address in an entry of the client', '10.9.9.9, 198.51.100.4', '198.51.100.4'],
    ['proxies in between', '1.1.1.1, 198.51.100.4, 10.1.1.1,fd00::5, 192.0.2.77', '198.51.100.4'],
    ['a client among the proxies', '10.7.7.7', '10.7.7.7'],
    ['a chain of proxies only', '10.3.3.3, 10.2.2.2', '10.3.3.3'],
  ])('is read from the right, with %s', (_what, forwardedFor, network) => {
    expect(behindProxy(forwardedFor)).toBe(network);
  });

  it.each([
    ['nothing', ''],
    ['blanks', '   '],
    ['an empty entry', '198.51.100.4,'],
    ['only commas', ',,,,'],
    ['a word', '198.51.100.4, unknown'],
    ['an obfuscated name', '_hidden'],
    ['a truncated address', '1.2.3'],
    ['another spelling of IPv4', '0x7f.0.0.1'],
    ['leading zeros', '198.051.100.4'],
    ['a number', '3325256708'],
    ['too large an octet', '198.51.100.256'],
    ['IPv4 in brackets', '[198.51.100.4]'],
    ['an unclosed bracket', '[2001:db8::1'],
    ['an invalid port', '198.51.100.4:port'],
    ['a port too long', '198.51.100.4:123456'],
    ['a block', '198.51.100.0/24'],
    ['another form of the header', 'for=198.51.100.4'],
    ['quotes', '"198.51.100.4"'],
    ['a NUL', '198.51.100.4\0'],
    ['other digits', '１９８.51.100.4'],
    ['an endless zone', `fe80::1%${'a'.repeat(5_000)}`],
    ['an endless entry', '1'.repeat(15_000)],
  ])('is not read with %s: the proxy that wrote it is counted', (_what, forwardedFor) => {
    expect(behindProxy(forwardedFor)).toBe(PROXY);
  });

  it('is read up to an invalid entry, and the proxy that wrote this entry is counted', () => {
    expect(behindProxy('198.51.100.4, rubbish, 10.2.2.2')).toBe('10.2.2.2');
  });

  it('is read through 32 proxies and no further', () => {
    // The peer of the request is a further proxy.
    const chain = (proxies: number): string => ['198.51.100.4', ...Array<string>(proxies).fill('10.5.5.5')].join(',');
    expect([behindProxy(chain(31)), behindProxy(chain(32)), behindProxy(chain(100_000))]).toEqual([
      '198.51.100.4',
      '10.5.5.5',
      '10.5.5.5',
    ]);
  });

  it('gives one network for a client with any prepended entries', () => {
    const counted = Array.from({ length: 30_000 }, (_, index) =>
      behindProxy(`${index >> 8}.${index & 255}.9.9, 198.51.100.4`),
    );
    expect(new Set(counted)).toEqual(new Set(['198.51.100.4']));
  });

  it('is one chain when it is sent in several lines', async () => {
    const requestNetworks: string[] = [];
    const server = createServer(({ headers, socket }, response) => {
      const networks = createClientNetworks(['127.0.0.1']);
      requestNetworks.push(networks(socket.remoteAddress, headers['x-forwarded-for']?.toString()));
      response.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.resume();
    socket.write(
      'GET / HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 1.1.1.1\r\nX-Forwarded-For: 198.51.100.4\r\nconnection: close\r\n\r\n',
    );
    await once(socket, 'close');
    server.close();
    expect(requestNetworks).toEqual(['198.51.100.4']);
  });
});

describe('a trusted proxy', () => {
  it.each(['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', '::ffff:10.0.0.0/104', '0.0.0.0/0', '::/0'])(
    'can be named as %s',
    (text) => {
      expect(proxyFault(text)).toBeNull();
    },
  );

  it.each(['', 'proxy.local', '10.0.0.0/33', '10/8', '10.0.0.0/', '10.0.0.0/8/8', 'fd00::/129', '::ffff:10.0.0.0/95'])(
    'cannot be named as %j',
    (text) => {
      expect(proxyFault(text)).toBe(`"${text}" is neither an IP address nor a block such as 10.0.0.0/8 or fd00::/8`);
    },
  );

  it('includes only its block', () => {
    const networkOf = createClientNetworks(['10.0.0.1', '2001:db8::1']);
    const header = '198.51.100.4';
    expect(['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1'].map((peer) => networkOf(peer, header))).toEqual(
      Array(3).fill(header),
    );
    expect([networkOf('10.0.0.2', header), networkOf('2001:db8::2', header)]).toEqual(['10.0.0.2', '2001:db8::/64']);
  });

  it('is detected as trusting everyone when it includes every address', () => {
    expect(['0.0.0.0/0', '::/0', '10.0.0.0/8', '0.0.0.0'].map(trustsEveryone)).toEqual([true, true, false, false]);
  });
});
