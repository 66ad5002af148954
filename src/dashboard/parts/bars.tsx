import { countText, percent } from '../format.ts';

export interface Bar {
  readonly label: string;
  readonly succeeded: number;
  readonly failed: number;
  /** Text at the end of the row, such as a cost. */
  readonly note?: string;
}

/** A table of horizontal bars: successes beside failures, in proportion to the largest row. */
export function Bars({ caption, bars }: { readonly caption: string; readonly bars: readonly Bar[] }) {
  const largest = Math.max(0, ...bars.map(({ succeeded, failed }) => succeeded + failed));
  const hasNotes = bars.some(({ note }) => note !== undefined);
  return (
    <table class="bars">
      <caption>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Share</th>
          <th scope="col" class="number">
            Succeeded
          </th>
          <th scope="col" class="number">
            Failed
          </th>
          {hasNotes && (
            <th scope="col" class="number">
              Cost
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {bars.map(({ label, succeeded, failed, note }) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            <td class="track" aria-hidden="true">
              <span class="bar good" style={{ width: `${percent(succeeded, largest)}%` }} />
              <span class="bar bad" style={{ width: `${percent(failed, largest)}%` }} />
            </td>
            <td class="number">{countText(succeeded)}</td>
            <td class="number">{countText(failed)}</td>
            {hasNotes && <td class="number">{note}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
