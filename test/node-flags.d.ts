export declare function nodeFlags (root: URL): readonly string[]
