/** Bytes of a page header without its segment table. */
const HEADER_BYTES = 27;
/** Offsets in a page header. */
const POSITION_OFFSET = 6;
const SERIAL_OFFSET = 14;
const SEGMENT_COUNT_OFFSET = 26;
/** Sample rate of Opus positions in Hz. The recording may have another rate. */
const OPUS_RATE = 48_000;
/** Maximum number of samples of one packet. */
const MAX_PACKET_SAMPLES = { opus: 5_760, vorbis: 8_192 } as const;
/** Maximum number of packets of one page. */
const MAX_PACKETS_PER_PAGE = 255;
/** Maximum number of pages of a file: one day with one page per second. */
const MAX_PAGES = 86_400;

/** Facts from the first packet of a stream. */
interface Codec {
  /** Samples per second. */
  readonly rate: number;
  /** Samples at the start that are not played. */
  readonly skipped: number;
  /** Maximum number of samples of one packet. */
  readonly maxPacketSamples: number;
}

/**
 * Duration in seconds, from the position of the last page on which a packet ends. Null when the duration is not
 * certain, for example for an unknown codec, several streams, a truncated file, or a recording without its start.
 */
export function oggSeconds(bytes: Buffer): number | null {
  let codec: Codec | null = null;
  let serial: number | null = null;
  // Positions of the first and the last page on which a packet ends.
  let firstPosition: number | null = null;
  let lastPosition: number | null = null;
  let at = 0;
  for (let pages = 0; at < bytes.length; pages += 1) {
    if (pages === MAX_PAGES) return null;
    if (at + HEADER_BYTES > bytes.length || bytes.toString('latin1', at, at + 4) !== 'OggS') return null;
    const segments = bytes[at + SEGMENT_COUNT_OFFSET] ?? 0;
    const body = at + HEADER_BYTES + segments;
    const size = bytes.subarray(at + HEADER_BYTES, body).reduce((sum, segment) => sum + segment, 0);
    if (body + size > bytes.length) return null;
    const pageSerial = bytes.readUInt32LE(at + SERIAL_OFFSET);
    serial ??= pageSerial;
    if (pageSerial !== serial) return null;
    codec ??= codecOf(bytes.subarray(body, body + size));
    if (codec === null) return null;
    const position = bytes.readBigInt64LE(at + POSITION_OFFSET);
    // -1 means that no packet ends on this page. Header pages have position 0.
    if (position > 0n) {
      lastPosition = Number(position);
      firstPosition ??= lastPosition;
    }
    at = body + size;
  }
  if (codec === null || firstPosition === null || lastPosition === null) return null;
  const maxPageSamples = codec.maxPacketSamples * MAX_PACKETS_PER_PAGE;
  const lacksStart = firstPosition > maxPageSamples;
  return lacksStart ? null : (lastPosition - codec.skipped) / codec.rate;
}

function codecOf(packet: Buffer): Codec | null {
  if (packet.length >= 16 && packet.toString('latin1', 0, 8) === 'OpusHead')
    return { rate: OPUS_RATE, skipped: packet.readUInt16LE(10), maxPacketSamples: MAX_PACKET_SAMPLES.opus };
  if (packet.length < 16 || packet.toString('latin1', 0, 7) !== '\x01vorbis') return null;
  const rate = packet.readUInt32LE(12);
  return rate === 0 ? null : { rate, skipped: 0, maxPacketSamples: MAX_PACKET_SAMPLES.vorbis };
}
