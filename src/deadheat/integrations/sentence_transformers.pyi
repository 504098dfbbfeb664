from deadheat.plugins.sentence_transformers.evaluators import (
    CrossEncoderRerankingEvaluator as CrossEncoderRerankingEvaluator,
    InformationRetrievalEvaluator as InformationRetrievalEvaluator,
    RerankingEvaluator as RerankingEvaluator,
)
