import { integer, query } from './query.ts';

export const readLinkedPage = query({
  page: integer({ min: 1, defaultValue: 1 }),
  page_size: integer({ min: 1, max: 500, defaultValue: 50 }),
});

interface Page {
  readonly number: number;
  readonly size: number;
}

/** Number (from 1) and size of the requested page. Throws InvalidInput. */
export function linkedPageIn(search: string): Page {
  const { page, page_size: size } = readLinkedPage(search);
  return { number: Number(page), size: Number(size) };
}

/** A page of a list with links to the other pages. Links keep the other parameters of the query. */
export function renderLinkedPage<Row>(path: string, search: string, data: readonly Row[], total: number) {
  const { number, size } = linkedPageIn(search);
  const last = Math.max(1, Math.ceil(total / size));
  const linkTo = (page: number): string => {
    const parameters = new URLSearchParams(search);
    parameters.set('page', String(page));
    return `${path}?${parameters.toString()}`;
  };
  return {
    data,
    meta: { total_count: total, page: number, page_size: size, total_pages: Math.ceil(total / size) },
    links: {
      self: linkTo(number),
      first: linkTo(1),
      prev: number > 1 ? linkTo(Math.min(number - 1, last)) : null,
      next: number < last ? linkTo(number + 1) : null,
      last: linkTo(last),
    },
  };
}
