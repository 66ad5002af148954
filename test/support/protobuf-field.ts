/**
 * Length-delimited protobuf field: a tag of one byte, length and content. For messages that `encodeExport` cannot
 * build, such as very deep nesting and answers of receivers.
 */
export function protobufField(tag: number, content: Uint8Array): Uint8Array {
  // Seven bits in each byte, the lowest first. The high bit marks all bytes except the last.
  const length: number[] = [];
  for (let remaining = content.length; ; remaining = Math.floor(remaining / 128)) {
    length.push((remaining % 128) | (remaining > 127 ? 0x80 : 0));
    if (remaining <= 127) return Buffer.concat([Uint8Array.of(tag, ...length), content]);
  }
}
