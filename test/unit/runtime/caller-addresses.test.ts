import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { AddressRefused } from '../../../src/domain/http.ts';
import { allowedHostFault, createCallerAddresses } from '../../../src/runtime/network/caller-addresses.ts';
import { readAddress } from '../../../src/runtime/http-client/address.ts';

const address = (text: string): LookupAddress => ({ address: text, family: text.includes(':') ? 6 : 4 });

/**
 * Result for a URL: its allowed addresses, `unrestricted` if every address is allowed, or `refused`. A look-up of its
 * name returns the addresses `found`.
 */
async function resultFor(url: string, allowed: readonly string[], found: readonly string[] = []): Promise<unknown> {
  const addresses = createCallerAddresses(allowed, (_hostname, _options, callback) => {
    if (found.length === 0) callback(Object.assign(new Error('no such host'), { code: 'ENOTFOUND' }), []);
    else callback(null, found.map(address));
  });
  const outcome = (error: unknown): string => {
    if (
      error instanceof AddressRefused &&
      error.message === 'The upstream could not be called: its address is refused.'
    )
      return 'refused';
    throw error;
  };
  try {
    const { hostname, lookup } = addresses.guarded(readAddress(url).peer);
    if (lookup === undefined) return 'unrestricted';
    return await new Promise((resolve) => {
      lookup(hostname, { all: true }, (error, usable) => {
        resolve(error === null ? (usable as LookupAddress[]).map((result) => result.address) : outcome(error));
      });
    });
  } catch (error) {
    return outcome(error);
  }
}

/** Private, reserved and multicast addresses, and internal ones of clouds, in all notations that a URL may have. */
const NOT_PUBLIC = [
  '127.0.0.1',
  '127.255.255.254',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '0x7f.0.0.1',
  '１２７.0.0.1',
  '127.0.0.1.',
  '0.0.0.0',
  '0',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '100.64.0.1',
  '100.100.100.200',
  '169.254.169.254',
  '0xa9fea9fe',
  '168.63.129.16',
  '192.0.0.192',
  '198.18.0.1',
  '203.0.113.7',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:a9fe:a9fe]',
  '[0:0:0:0:0:ffff:10.0.0.1]',
  '[::127.0.0.1]',
  '[::10.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2001:0:1::1]',
  '[2001:db8::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
  '[100::1]',
  '[4000::1]',
];

describe('an address chosen by a caller', () => {
  it.each(NOT_PUBLIC)('is refused when it is not public: %s', async (host) => {
    expect(await resultFor(`http://${host}:8080/v1`, [])).toBe('refused');
  });

  it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '[2606:4700::1111]', '[::ffff:8.8.8.8]', '[64:ff9b::808:808]'])(
    'is called when it is public: %s',
    async (host) => {
      expect(await resultFor(`https://${host}/v1`, [])).toBe('unrestricted');
    },
  );

  it('that is a name is limited to the public addresses that its look-up finds', async () => {
    expect(await resultFor('http://name.example', [], ['8.8.8.8', '2606:4700::1'])).toEqual([
      '8.8.8.8',
      '2606:4700::1',
    ]);
    expect(await resultFor('http://name.example', [], ['10.0.0.1', '8.8.8.8', 'fd00::1'])).toEqual(['8.8.8.8']);
    for (const found of [['127.0.0.1'], ['::1'], ['169.254.169.254'], ['::ffff:10.0.0.1'], ['fe80::1%lo'], []])
      expect(await resultFor('http://name.example', [], found)).toBe('refused');
    expect(await resultFor('http://localhost', [], ['127.0.0.1'])).toBe('refused');
    expect(await resultFor('http://LOCALHOST.', [], ['127.0.0.1'])).toBe('refused');
  });

  it('that is a name has one public address where the look-up requests one', async () => {
    const { guarded } = createCallerAddresses([], (_hostname, _options, callback) =>
      callback(null, [address('10.0.0.1'), address('8.8.8.8')]),
    );
    const { lookup } = guarded({ secure: false, hostname: 'name.example', port: 80 });
    const resolved = await new Promise((resolve) => lookup?.('name.example', {}, (...result) => resolve(result)));
    expect(resolved).toEqual([null, '8.8.8.8', 4]);
  });

  it('may be private where the setting lists it', async () => {
    const allowed = ['10.1.0.0/16', 'fd00::/8', '127.0.0.1:8080', 'Models.internal.', 'gpu:8000', '[::1]:80'];
    expect(await resultFor('http://10.1.2.3', allowed)).toBe('unrestricted');
    expect(await resultFor('http://10.2.0.1', allowed)).toBe('refused');
    expect(await resultFor('http://[fd12::1]', allowed)).toBe('unrestricted');
    expect(await resultFor('http://[::ffff:10.1.0.1]', allowed)).toBe('unrestricted');
    expect(await resultFor('http://0x7f000001:8080', allowed)).toBe('unrestricted');
    expect(await resultFor('http://127.0.0.1:8081', allowed)).toBe('refused');
    expect(await resultFor('http://[::1]', allowed)).toBe('unrestricted');
    expect(await resultFor('https://[::1]', allowed)).toBe('refused');
    expect(await resultFor('https://models.internal', allowed, ['192.168.0.1'])).toBe('unrestricted');
    expect(await resultFor('http://gpu:8000', allowed, ['192.168.0.1'])).toBe('unrestricted');
    expect(await resultFor('http://gpu:8001', allowed, ['192.168.0.1'])).toBe('refused');
    expect(await resultFor('http://other.internal', allowed, ['10.1.0.9', '10.9.0.1'])).toEqual(['10.1.0.9']);
  });
});

describe('entries of user_url_allowed_hosts', () => {
  it.each(['10.0.0.0/8', '::1', 'host', 'host:80', '[::1]:80', 'a.b.example.'])('can be %s', (entry) => {
    expect(allowedHostFault(entry)).toBeNull();
  });

  it.each(['', ' ', 'http://host', 'host/path', '10.0.0.0/33', 'user@host', 'host:99999', '*', 'a b', '[::1'])(
    'cannot be %j',
    (entry) => {
      expect(allowedHostFault(entry)).toBe(
        `"${entry}" is neither a host, a host and port, an IP address nor a block such as 10.0.0.0/8`,
      );
    },
  );
});
