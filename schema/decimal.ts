/**
 * A double as plain decimal text: the shortest digits that name it, without exponent. A price read from JSON
 * comes out with the digits it was written with.
 */
export function decimalText(value: number): string {
  const [mantissa = '0', exponent = '0'] = String(Math.abs(value)).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const sign = value < 0 ? '-' : '';
  const shift = Number(exponent);
  if (shift >= 0) {
    const digits = (whole + fraction).padEnd(whole.length + shift, '0');
    const rest = digits.slice(whole.length + shift);
    return `${sign}${digits.slice(0, whole.length + shift)}${rest === '' ? '' : `.${rest}`}`;
  }
  return `${sign}0.${(whole + fraction).padStart(fraction.length - shift, '0')}`;
}
