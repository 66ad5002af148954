import { generateKeyPairSync, sign } from 'node:crypto';

/** One DER element: tag, length and content. A length from 128 has two bytes, after 0x82. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

// Tags: 0x30 sequence, 0x31 set, 0x02 integer, 0x03 bit string, 0x04 octet string, 0x06 object id, 0x0c UTF-8 text,
// 0x17 UTC time. 0x82, 0xa0 and 0xa3 are numbers of fields: the DNS name, the version and the extensions.
const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const time = (date: Date): Buffer =>
  der(0x17, Buffer.from(`${date.toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`));
const pem = (kind: string, bytes: Buffer): string =>
  `-----BEGIN ${kind}-----\n${bytes
    .toString('base64')
    .replaceAll(/(.{64})/g, '$1\n')
    .trim()}\n-----END ${kind}-----\n`;

const DAY_MS = 86_400_000;

/** Creates a key and a self-signed certificate for `localhost`, so that the repository contains no private key. */
export function selfSigned(): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
  // 550403 is the common name.
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from('localhost')))));
  const validity = sequence(time(new Date(Date.now() - DAY_MS)), time(new Date(Date.now() + DAY_MS)));
  const localhost = sequence(der(0x82, Buffer.from('localhost')));
  const alternativeName = sequence(oid('551d11'), der(0x04, localhost));
  const version = der(0xa0, der(0x02, Buffer.from([2])));
  const serial = der(0x02, Buffer.from([1]));
  const publicBytes = publicKey.export({ type: 'spki', format: 'der' });
  const extensions = der(0xa3, sequence(alternativeName));
  const body = sequence(version, serial, ecdsaWithSha256, name, validity, name, publicBytes, extensions);
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    cert: pem('CERTIFICATE', sequence(body, ecdsaWithSha256, signature)),
  };
}
