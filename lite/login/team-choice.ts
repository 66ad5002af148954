import type { Host } from '../host.ts';
import { plain } from '../terminal/table.ts';

export interface Team {
  readonly id: string;
  readonly alias: string | null;
}

/** Asks which team to use. Null at the end of the input. */
export async function chooseTeam({ terminal }: Host, teams: readonly Team[]): Promise<Team | 'skip' | null> {
  terminal.print('\nAvailable teams:');
  for (const [index, { id, alias }] of teams.entries())
    terminal.print(`  ${index + 1}. ${plain(alias ?? 'N/A')} (${plain(id)})`);
  for (;;) {
    const answer = (await terminal.ask(`\nSelect a team by number (1-${teams.length}) or 'skip': `))?.trim();
    if (answer === undefined) {
      terminal.print('\nTeam selection cancelled.');
      return null;
    }
    if (answer.toLowerCase() === 'skip') {
      terminal.print('Team selection skipped.');
      return 'skip';
    }
    const team = /^\d+$/.test(answer) ? teams[Number(answer) - 1] : undefined;
    if (team !== undefined) {
      terminal.print(`\nSelected team: ${plain(team.alias ?? 'N/A')} (${plain(team.id)})`);
      return team;
    }
    terminal.print(
      /^\d+$/.test(answer)
        ? `Invalid selection. Please enter a number between 1 and ${teams.length}`
        : "Invalid input. Please enter a number or 'skip'",
    );
  }
}
