export declare const SHORT_LIVED: readonly string[]
export declare function nodeFlags (root: URL): readonly string[]
