export declare function shortened(text: string, isMet: boolean): string
