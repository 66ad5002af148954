/** Length-delimited protobuf field: a tag of one byte, length and content. For content that an encoder rejects. */
export function protobufField(tag: number, content: Uint8Array): Uint8Array {
  // Seven bits in each byte, the lowest first. The high bit marks all bytes except the last.
  const length: number[] = [];
  for (let rest = content.length; ; rest = Math.floor(rest / 128)) {
    length.push((rest % 128) | (rest > 127 ? 0x80 : 0));
    if (rest <= 127) return Buffer.concat([Uint8Array.of(tag, ...length), content]);
  }
}
