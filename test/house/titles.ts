import { parseSync, Visitor, type CallExpression } from 'oxc-parser';
import type { SourceFile } from './repository.ts';

/** Title of a test or of a group of tests: `text`, without its quotes. A substitution of a template is `${value}`. */
export interface Title extends SourceFile {
  readonly line: number;
}

/** Name of the root function of a callee: `it` of `it.each(cases)('title', run)`. */
function rootOf(callee: CallExpression['callee']): string {
  if (callee.type === 'Identifier') return callee.name;
  if (callee.type === 'MemberExpression') return rootOf(callee.object);
  if (callee.type === 'CallExpression') return rootOf(callee.callee);
  return callee.type === 'TaggedTemplateExpression' ? rootOf(callee.tag) : '';
}

/** Text of a literal. Null for other expressions. */
function textOf(title: CallExpression['arguments'][number]): string | null {
  if (title.type === 'Literal' && typeof title.value === 'string') return title.value;
  if (title.type !== 'TemplateLiteral') return null;
  return title.quasis.map(({ value }) => value.cooked ?? value.raw).join('${value}');
}

/** Titles in a file of tests. A title that is neither a literal nor a template is left out. */
export function titlesIn({ path, text }: SourceFile): readonly Title[] {
  const titles: Title[] = [];
  new Visitor({
    CallExpression({ callee, arguments: [title] }) {
      if (!title || !['it', 'describe', 'test'].includes(rootOf(callee))) return;
      const words = textOf(title);
      if (words !== null) titles.push({ path, line: text.slice(0, title.start).split('\n').length, text: words });
    },
  }).visit(parseSync(path, text).program);
  return titles;
}
